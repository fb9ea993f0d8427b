package model

// Prices are what a model costs in a currency of the operator's choice, for a million tokens. A price that is nil is not known,
// which is not the same as 0. Cached is the price of input that the provider had cached; nil means that of Input.
type Prices struct {
	Input, Cached, Output *float64
}

// Cost is what a usage costs. It is not known without prices, or when the provider has not said what was used.
func (p Prices) Cost(u Usage) (amount float64, known bool) {
	if p.Input == nil || p.Output == nil || u == (Usage{}) {
		return 0, false
	}
	cached := p.Input
	if p.Cached != nil {
		cached = p.Cached
	}
	const million = 1e6
	fresh := max(u.Input-u.Cached, 0)
	return (float64(fresh)**p.Input + float64(u.Cached)**cached + float64(u.Output)**p.Output) / million, true
}
