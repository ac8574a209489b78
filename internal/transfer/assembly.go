/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

const (
	// framesAhead is the number of frames that are read at the same time, before they are needed.
	framesAhead = 4
	// partsAhead is the number of parts of frames that are known before they are needed.
	partsAhead = 128
	// framesKept is the number of frames in memory: one of each stream, because the data goes back and forth between them.
	framesKept = protocol.MaxSources + 2
)

// assembly reads data whose parts are in several streams.
type assembly struct {
	of      shelves
	order   *reuse.OrderReader
	shelves map[int]*shelf // by their number in the order
	stores  []*store       // to close

	recent  []*fetched // the last one used first
	parts   chan part
	tokens  chan struct{} // one for each frame that is read before it is needed
	end     error         // set before parts is closed
	stop    func()
	stopped chan struct{}
	planner sync.WaitGroup

	unread []byte
}

// fetched is a frame of a stream that is being read, until done is closed.
type fetched struct {
	source int
	number int64
	done   chan struct{}
	data   []byte
	err    error
}

// part is a part of the data.
type part struct {
	*fetched
	from, to int64
	first    bool // of this frame
}

// openAssembly opens all streams of a backup and starts to read.
func openAssembly(of shelves, from *protocol.Restore, store *store, stream *protocol.Stream) (*assembly, error) {
	a := &assembly{
		of: of, shelves: map[int]*shelf{}, stopped: make(chan struct{}),
		parts: make(chan part, partsAhead), tokens: make(chan struct{}, framesAhead),
	}
	a.stop = sync.OnceFunc(func() { close(a.stopped) })
	own, err := of.open(store, stream)
	if err != nil {
		return a, err
	}
	a.shelves[0] = own
	for _, source := range stream.Sources {
		if err := a.openSource(from, source); err != nil {
			return a, err
		}
	}
	order, err := of.keys.decrypt(stream, &joiner{ctx: of.ctx, store: store, pieces: []protocol.Piece{*stream.Order}, patient: of.patient})
	if err != nil {
		return a, unreadable(store, stream.Order.Name, err)
	}
	a.order = reuse.NewOrderReader(order)
	a.planner.Go(a.plan)
	return a, nil
}

// openSource opens an earlier stream, whose objects must all exist.
func (a *assembly) openSource(from *protocol.Restore, source protocol.Source) error {
	store, err := openStore(a.of.ctx, protocol.Beside(from.From, source.Folder), from.Store)
	if err != nil {
		return err
	}
	a.stores = append(a.stores, store)
	listed, err := store.list(a.of.ctx, "")
	if err == nil {
		err = check(&source.Stream, store, listed)
	}
	if err == nil {
		err = a.of.keys.check(&source.Stream, store)
	}
	if err == nil {
		a.shelves[source.Number], err = a.of.open(store, &source.Stream)
	}
	return err
}

// plan reads the order, and starts to read each frame before it is needed.
func (a *assembly) plan() {
	defer close(a.parts)
	for {
		run, err := a.order.Next()
		if err != nil {
			a.end = err
			return
		}
		if err := a.split(run); err != nil {
			a.end = err
			return
		}
	}
}

// split splits a run into parts of frames.
func (a *assembly) split(run reuse.Run) error {
	shelf := a.shelves[run.Source]
	if shelf == nil {
		return fmt.Errorf("the order of the data names the stream %d, which the manifest does not have", run.Source)
	}
	for run.Length > 0 {
		next := part{from: run.Offset % shelf.frameBytes}
		next.to = min(next.from+run.Length, shelf.frameBytes)
		if next.fetched, next.first = a.take(run.Source, run.Offset/shelf.frameBytes); next.fetched == nil {
			return io.ErrClosedPipe
		}
		run.Offset, run.Length = run.Offset+next.to-next.from, run.Length-(next.to-next.from)
		select {
		case a.parts <- next:
		case <-a.stopped:
			return io.ErrClosedPipe
		}
	}
	return nil
}

// take returns a frame, and whether it is a new one that is being read. It returns nil after close.
func (a *assembly) take(source int, number int64) (_ *fetched, first bool) {
	at := slices.IndexFunc(a.recent, func(f *fetched) bool { return f.source == source && f.number == number })
	if at < 0 {
		select {
		case a.tokens <- struct{}{}:
		case <-a.stopped:
			return nil, false
		}
		one := &fetched{source: source, number: number, done: make(chan struct{})}
		a.planner.Go(func() {
			defer close(one.done)
			one.data, one.err = a.shelves[source].frame(number)
		})
		a.recent = slices.Insert(a.recent[:min(len(a.recent), framesKept-1)], 0, one)
		return one, true
	}
	one := a.recent[at]
	copy(a.recent[1:at+1], a.recent[:at])
	a.recent[0] = one
	return one, false
}

func (a *assembly) Read(buffer []byte) (int, error) {
	for len(a.unread) == 0 {
		next, more := <-a.parts
		if !more {
			return 0, a.end
		}
		<-next.done
		if next.first {
			<-a.tokens
		}
		switch {
		case next.err != nil:
			return 0, next.err
		case next.to > int64(len(next.data)):
			return 0, errors.New("the order of the data goes beyond the end of a stream")
		}
		a.unread = next.data[next.from:next.to]
	}
	n := copy(buffer, a.unread)
	a.unread = a.unread[n:]
	return n, nil
}

// close ends all steps. It may be called again.
func (a *assembly) close() {
	a.stop()
	if a.order != nil {
		for range a.parts {
			continue // the rest is not needed
		}
	}
	a.planner.Wait()
}

// release closes the stores, which culprit needs.
func (a *assembly) release() {
	for _, store := range a.stores {
		_ = store.close() // only read
	}
}

// culprit returns the error of the first damaged object of all streams, or nil.
func (a *assembly) culprit() error {
	for _, number := range slices.Sorted(maps.Keys(a.shelves)) {
		shelf := a.shelves[number]
		if err := a.of.verify(shelf.store, append(slices.Clip(shelf.stream.Pieces), *shelf.stream.Index)...); err != nil {
			return err
		}
	}
	return nil
}
