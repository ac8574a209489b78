/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// option is one flag of a call: how its words become the value of a field, and the other way around. There is one list
// of them for each call, so a flag cannot exist on one side only.
type option struct {
	define func(*flag.FlagSet) // gives the field its default, too
	words  func() []string     // none for what is left out
}

// text is left out where it is empty or the default.
func text(field *string, name, standard, usage string) option {
	return option{
		func(flags *flag.FlagSet) { flags.StringVar(field, name, standard, usage) },
		func() []string { return given(name, *field, *field != "" && *field != standard) },
	}
}

func toggle(field *bool, name, usage string) option {
	return option{
		func(flags *flag.FlagSet) { flags.BoolVar(field, name, false, usage) },
		func() []string {
			if !*field {
				return nil
			}
			return []string{"--" + name}
		},
	}
}

// number is left out unless the function returns true.
func number(field *int, name string, standard int, said func() bool, usage string) option {
	return option{
		func(flags *flag.FlagSet) { flags.IntVar(field, name, standard, usage) },
		func() []string { return given(name, strconv.Itoa(*field), said()) },
	}
}

// period is left out where it is 0 or the default.
func period(field *time.Duration, name string, standard time.Duration, usage string) option {
	set := func(text string) (err error) {
		*field, err = time.ParseDuration(text)
		if err == nil && *field <= 0 {
			err = errors.New("it must be above 0")
		}
		return err
	}
	return option{
		func(flags *flag.FlagSet) {
			*field = standard
			flags.Func(name, fmt.Sprintf("%s (default %s)", usage, standard), set)
		},
		func() []string {
			text := field.String()
			if *field%time.Second == 0 {
				text = fmt.Sprintf("%ds", *field/time.Second)
			}
			return given(name, text, *field != 0 && *field != standard)
		},
	}
}

// size is left out where it is 0 or the default.
func size(field *int64, name string, standard, most int64, usage string) option {
	set := func(text string) error {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return err
		}
		if *field = quantity.Value(); *field < 1 || *field > most {
			return fmt.Errorf("it must be from 1 to %s", resource.NewQuantity(most, resource.BinarySI))
		}
		return nil
	}
	return option{
		func(flags *flag.FlagSet) {
			*field = standard
			flags.Func(name, fmt.Sprintf("%s (default %s)", usage, resource.NewQuantity(standard, resource.BinarySI)), set)
		},
		func() []string { return given(name, strconv.FormatInt(*field, 10), *field != 0 && *field != standard) },
	}
}

// command is one flag for each word. A word may begin with a dash.
func command(field *[]string, name, usage string) option {
	return option{
		func(flags *flag.FlagSet) {
			flags.Func(name, usage, func(word string) error {
				*field = append(*field, word)
				return nil
			})
		},
		func() (all []string) {
			for _, word := range *field {
				all = append(all, "--"+name+"="+word)
			}
			return all
		},
	}
}

// pairs is one flag for each key, the known ones first.
func pairs(field *About, name string, known []string, usage string) option {
	set := func(text string) error {
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
	rank := func(key string) int {
		if i := slices.Index(known, key); i >= 0 {
			return i
		}
		return len(known)
	}
	return option{
		func(flags *flag.FlagSet) { flags.Func(name, usage, set) },
		func() (all []string) {
			keys := slices.SortedFunc(maps.Keys(*field), func(a, b string) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
			})
			for _, key := range keys {
				all = append(all, "--"+name, key+"="+(*field)[key])
			}
			return all
		},
	}
}

func given(name, value string, given bool) []string {
	if !given {
		return nil
	}
	return []string{"--" + name, value}
}
