package file

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"

	"herald/core/model"
)

const (
	// maxSide is the longest side of a picture that is shown: models make larger ones smaller themselves, and charge for them.
	maxSide = 1568
	// maxShown is the most bytes of a picture that is shown as it came; the store keeps it with the message.
	maxShown = 1_000_000
	// maxPixels bounds the memory of a picture that is made smaller. A file of some bytes can claim billions.
	maxPixels = 25_000_000
	quality   = 85
)

// oneImage lets one picture at a time be unpacked.
var oneImage = make(chan struct{}, 1)

// showable is the picture as a model may be shown it, and the reason where it cannot.
func showable(data []byte) (*model.Image, string) {
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif":
	case "image/webp":
		if len(data) > maxShown {
			return nil, fmt.Sprintf("pictures of the kind WebP are shown up to %d kB only", maxShown/1000)
		}
		return &model.Image{MIME: kind, Data: data}, ""
	default:
		return nil, "it is no picture of the kinds PNG, JPEG, GIF and WebP"
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil || size.Width <= 0 || size.Height <= 0:
		return nil, "the picture is damaged"
	case size.Width > maxPixels/size.Height:
		return nil, fmt.Sprintf("the picture has more than %d million pixels", maxPixels/1_000_000)
	case max(size.Width, size.Height) <= maxSide && len(data) <= maxShown:
		return &model.Image{MIME: kind, Data: data}, ""
	}
	oneImage <- struct{}{}
	defer func() { <-oneImage }()
	var full image.Image
	switch kind {
	case "image/gif":
		full, err = gif.Decode(bytes.NewReader(data)) // its first frame
	case "image/png":
		full, err = png.Decode(bytes.NewReader(data))
	default:
		full, err = jpeg.Decode(bytes.NewReader(data))
	}
	if err != nil {
		return nil, "the picture is damaged"
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, shrink(full, maxSide), &jpeg.Options{Quality: quality}); err != nil {
		return nil, "the picture could not be made smaller"
	}
	return &model.Image{MIME: "image/jpeg", Data: out.Bytes()}, ""
}

// shrink is the picture with no side longer than most, on white where it was transparent. Each pixel is the mean of those that it stands for.
func shrink(src image.Image, most int) image.Image {
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	if long := max(w, h); long > most {
		w, h = max(w*most/long, 1), max(h*most/long, 1)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			out.SetRGBA(x, y, mean(src, x0, y0, x1, y1))
		}
	}
	return out
}

// mean is the mean colour of a rectangle, on white.
func mean(src image.Image, x0, y0, x1, y1 int) color.RGBA {
	var r, g, b, n uint64
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			pr, pg, pb, pa := src.At(x, y).RGBA()
			white := uint64(0xffff - pa)
			r, g, b, n = r+uint64(pr)+white, g+uint64(pg)+white, b+uint64(pb)+white, n+1
		}
	}
	n *= 0x101
	return color.RGBA{R: uint8(r / n), G: uint8(g / n), B: uint8(b / n), A: 0xff} //nolint:gosec // a mean of 16 bits over 0x101 has 8
}
