package request

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // a form that a screenshot may have
	_ "image/jpeg" // another
	_ "image/png"  // the usual one
	"io"

	_ "golang.org/x/image/webp" // and what newer tools write
)

// The limits of a screenshot. A smaller picture shows no page. A larger picture
// is only measured, because decoding takes four bytes per pixel.
const (
	minSide     = 8
	maxPoints   = 12_000_000
	maxPicture  = 32 << 20 // bytes
	maxPictures = 50       // per response; the others are only measured
)

// lookAt returns the size of a picture, and an error if the picture shows
// nothing. If whole is false, it only reads the header.
func lookAt(file io.Reader, whole bool) (size string, err error) {
	text, err := io.ReadAll(io.LimitReader(file, maxPicture+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxPicture:
		return "", fmt.Errorf("has more than %d MiB", maxPicture>>20)
	}
	head, form, err := image.DecodeConfig(bytes.NewReader(text))
	if err != nil {
		return "", errors.New("is no image: neither PNG nor JPEG, GIF or WebP")
	}
	size = fmt.Sprintf("%d×%d", head.Width, head.Height)
	switch {
	case head.Width < minSide || head.Height < minSide:
		return size, fmt.Errorf("is an image of %s points, which shows no page", size)
	case !whole || head.Width > maxPoints/head.Height:
		return size, nil
	}
	m, _, err := image.Decode(bytes.NewReader(text))
	if err != nil {
		return size, fmt.Errorf("is no whole %s image: %v", form, err)
	}
	if uniform(m) {
		return size, fmt.Errorf("is an image of %s in a single colour, which shows nothing", size)
	}
	return size, nil
}

// uniform reports whether all pixels of a picture have one colour.
func uniform(m image.Image) bool {
	b := m.Bounds()
	r0, g0, b0, a0 := m.At(b.Min.X, b.Min.Y).RGBA()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, g, bl, a := m.At(x, y).RGBA(); r != r0 || g != g0 || bl != b0 || a != a0 {
				return false
			}
		}
	}
	return true
}
