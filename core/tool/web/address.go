package web

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// errInside is returned for an address that is not public.
var errInside = errors.New("it leads to an address that is not public")

// special are the ranges that are no public hosts, beside those that netip knows by name.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),    // shared by customers of a provider; some clouds keep their metadata there
	netip.MustParsePrefix("168.63.129.16/32"), // the host of virtual machines on Azure
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), // Teredo, benchmarking and other protocols
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), // 6to4 carries an IPv4 address
	netip.MustParsePrefix("3fff::/20"),
}

// global is where public IPv6 hosts stand.
var global = netip.MustParsePrefix("2000::/3")

// nat64 carries an IPv4 address in its last four bytes.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// public reports whether an address is one of a host that everybody can reach.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !global.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// control refuses a connection to an address that is not public. It is asked for each attempt, with the address that was resolved.
func control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address cannot be read: %w", errInside)
	}
	if !public(ap.Addr()) {
		return errInside
	}
	return nil
}
