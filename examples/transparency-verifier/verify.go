// Verifies a transparency log over HTTP with the library of the Go checksum database:
//
//	verify PUBLIC_KEY URL FILE
//
// Checks that the checkpoint is signed, that the log has each entry, and that it has all entries of the checkpoint in the file. The
// file gets the new checkpoint.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8
const tileWidth = 1 << tileHeight
const bodyBytesMax = 1 << 20

var client = &http.Client{Timeout: 10 * time.Second}

func read(url string) ([]byte, error) {
	response, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, bodyBytesMax))
}

// tiles reads the tiles of a log, which have other paths than those of the checksum database.
type tiles string

func (url tiles) Height() int { return tileHeight }

func (url tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	found := make([][]byte, len(wanted))
	for number, tile := range wanted {
		path := strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight), "tile/", 1)
		bytes, err := read(string(url) + path)
		if err != nil {
			return nil, err
		}
		found[number] = bytes
	}
	return found, nil
}

func (url tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// treeOf returns the tree of a checkpoint that is signed.
func treeOf(checkpoint []byte, verifier note.Verifier) (tree tlog.Tree, err error) {
	signed, err := note.Open(checkpoint, note.VerifierList(verifier))
	if err != nil {
		return tree, err
	}
	lines := strings.Split(signed.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tree, errors.New("the checkpoint is not of this log")
	}
	if tree.N, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return tree, err
	}
	tree.Hash, err = tlog.ParseHash(lines[2])
	return tree, err
}

// entries returns the hashes of the entries of a bundle of up to 256.
func entries(url string, bundle, width int64) (hashes []tlog.Hash, err error) {
	tile := tlog.Tile{H: tileHeight, L: -1, N: bundle, W: int(width)}
	path := strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/data/", tileHeight), "tile/entries/", 1)
	bytes, err := read(url + path)
	for err == nil && len(bytes) > 0 {
		length := int(binary.BigEndian.Uint16(bytes))
		hashes = append(hashes, tlog.RecordHash(bytes[2:2+length]))
		bytes = bytes[2+length:]
	}
	return hashes, err
}

// checkEntries checks that each entry is in the tree.
func checkEntries(url string, tree tlog.Tree, hashes tlog.HashReader) error {
	for first := int64(0); first < tree.N; first += tileWidth {
		found, err := entries(url, first/tileWidth, min(tileWidth, tree.N-first))
		if err != nil {
			return err
		}
		for number, hash := range found {
			index := first + int64(number)
			proof, err := tlog.ProveRecord(tree.N, index, hashes)
			if err != nil {
				return err
			}
			if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, hash); err != nil {
				return fmt.Errorf("entry %d: %w", index, err)
			}
		}
	}
	return nil
}

func verify(key, url, file string) error {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return err
	}
	checkpoint, err := read(url + "checkpoint")
	if err != nil {
		return err
	}
	tree, err := treeOf(checkpoint, verifier)
	if err != nil {
		return err
	}
	hashes := tlog.TileHashReader(tree, tiles(url))
	if err := checkEntries(url, tree, hashes); err != nil {
		return err
	}
	former, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		old, err := treeOf(former, verifier)
		if err != nil {
			return err
		}
		proof, err := tlog.ProveTree(tree.N, old.N, hashes)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash); err != nil {
			return err
		}
		fmt.Printf("the log has the %d entries of the former checkpoint\n", old.N)
	}
	fmt.Printf("the log has %d entries, each of which is proved\n", tree.N)
	return os.WriteFile(file, checkpoint, 0o600)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: verify PUBLIC_KEY URL FILE")
		os.Exit(2)
	}
	if err := verify(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "not verified:", err)
		os.Exit(1)
	}
}
