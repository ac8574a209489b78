/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// option is one flag of a call: a field and a tag. The tag has the name, the default and the usage of the flag. Angle
// brackets mark the name of the value. Both sides read the same tag, so both have the same flags.
type option struct {
	name, standard, usage string
	field, within         reflect.Value
}

func options(call Call) []option { return optionsOf(reflect.ValueOf(call).Elem()) }

// optionsOf returns the options of a struct, in the order of its fields.
func optionsOf(within reflect.Value) (all []option) {
	quoted := strings.NewReplacer("<", "`", ">", "`") // a tag cannot contain the backquotes of package flag
	for field, value := range within.Fields() {
		if name, is := field.Tag.Lookup("flag"); is {
			all = append(all, option{name, field.Tag.Get("default"), quoted.Replace(field.Tag.Get("usage")), value, within})
		} else if field.Anonymous {
			all = append(all, optionsOf(value)...)
		}
	}
	return all
}

// define adds the flag to a set and sets the field to its default.
func (o option) define(flags *flag.FlagSet) {
	switch field := o.field.Addr().Interface().(type) {
	case *string:
		flags.StringVar(field, o.name, "", o.usage)
	case *bool:
		flags.BoolVar(field, o.name, false, o.usage)
	case *int:
		flags.IntVar(field, o.name, 0, o.usage)
	case *int64:
		flags.Func(o.name, o.usage, func(text string) error { return readSize(field, text) })
	case *time.Duration:
		flags.Func(o.name, o.usage, func(text string) error { return readPeriod(field, text) })
	case *[]string:
		flags.Func(o.name, o.usage, func(word string) error {
			*field = append(*field, word)
			return nil
		})
	case *About:
		flags.Func(o.name, o.usage, func(pair string) error { return readPair(field, pair) })
	}
	if o.standard != "" {
		flags.Lookup(o.name).DefValue = o.standard
		_ = flags.Set(o.name, o.standard) // a test parses each default
	}
}

// given reports whether the value differs from the default. The numbers of a struct are given together, because 0 is a
// valid number.
func (o option) given() bool {
	if o.field.Kind() == reflect.Int {
		return !o.within.IsZero()
	}
	unset := o
	unset.field = reflect.New(o.field.Type()).Elem()
	unset.define(flag.NewFlagSet(o.name, flag.ContinueOnError))
	return !o.field.IsZero() && !reflect.DeepEqual(o.field.Interface(), unset.field.Interface())
}

// words returns the flag as arguments.
func (o option) words() (all []string) {
	name := "--" + o.name
	switch value := o.field.Interface().(type) {
	case bool:
		return []string{name}
	case []string:
		for _, word := range value {
			all = append(all, name+"="+word) // the word may begin with a dash
		}
		return all
	case About:
		for _, key := range value.keys() {
			all = append(all, name, key+"="+value[key])
		}
		return all
	case time.Duration:
		if value%time.Second == 0 {
			return []string{name, fmt.Sprintf("%ds", value/time.Second)}
		}
	}
	return []string{name, fmt.Sprint(o.field.Interface())}
}

func readPeriod(field *time.Duration, text string) (err error) {
	*field, err = time.ParseDuration(text)
	if err == nil && *field <= 0 {
		err = errors.New("it must be above 0")
	}
	return err
}

// maxPieceBytes is the maximum size of an S3 object, in parts of 8 MiB.
const maxPieceBytes = 64 << 30

func readSize(field *int64, text string) error {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return err
	}
	if *field = quantity.Value(); *field < 1 || *field > maxPieceBytes {
		return fmt.Errorf("it must be from 1 to %s", resource.NewQuantity(maxPieceBytes, resource.BinarySI))
	}
	return nil
}

func readPair(field *About, text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return errors.New("it must be key=value")
	}
	if *field == nil {
		*field = About{}
	}
	(*field)[key] = value
	return nil
}
