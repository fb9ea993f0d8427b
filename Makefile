# Everything a person needs to build, try and check Herald. "make help" lists it.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# What the longer targets take: SAMPLE bounds the crash matrix to so many cases (0: all), SEED picks them; ARGS goes to
# the program of the target as it is.
# PACKAGES is how many packages are tested at a time; empty leaves it to the go command.
SAMPLE ?= 0
SEED ?= 1
ARGS ?=
PACKAGES ?=

.PHONY: help run demo build test race lint fmt bench crash sabotage verify setup

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Run the service with ./herald.toml, or without a file: SQLite and the terminal
	go run ./cmd/herald run $(ARGS)

demo: ## See Herald at work in under a minute: no network, no token, no Redis
	go run ./cmd/herald demo $(ARGS)

build: ## Build bin/herald
	CGO_ENABLED=0 go build -trimpath -o bin/herald ./cmd/herald

setup: ## Install what the tests need, or say what is missing
	@.ci/setup

test: setup ## Run all tests (needs a redis-server program; installs it where it can)
	go test $(if $(PACKAGES),-p $(PACKAGES)) -shuffle=on ./...

# Left out of the race run, as the detector can see nothing there and makes them many times slower: large texts and a packed PDF that one
# goroutine works through, a thousand tasks that one goroutine plays, the benchmark's counts, loads that say so many messages a second, and poisoned
# turns: the service of the last three runs under the detector in other tests of the packages crash, hostile and service.
# "make test" runs them all.
UNRACED := ^TestLongAnswersArriveWhole$$/of_(40000|200000)$$|^TestHostile$$/^a_bomb$$|^TestCounts$$|^TestSlackCounts$$|^TestTasksSurviveKills$$|^TestPoisonedTurns$$|^TestLoads$$|^TestFlood$$

race: setup ## Run all tests under the race detector (needs a C compiler)
	go test $(if $(PACKAGES),-p $(PACKAGES)) -race -shuffle=on -skip '$(UNRACED)' ./...

lint: ## Check format, vet, staticcheck, the module file and the architecture
	@.ci/lint

fmt: ## Format the source
	GOBIN=$(CURDIR)/.tools go -C .ci/tools install mvdan.cc/gofumpt
	.tools/gofumpt -l -w $$(git ls-files -co --exclude-standard '*.go')

bench: setup ## Measure messages a second, latency, round trips and memory on all stores
	go run ./cmd/internal/bench $(ARGS)

crash: setup ## Kill the service at each fail point (SAMPLE=N SEED=S for a part)
	go run ./cmd/internal/crash -sample $(SAMPLE) -seed $(SEED) $(ARGS)

sabotage: setup ## Prove that the tests see defects planted one at a time
	go run ./cmd/internal/sabotage $(ARGS)

verify: ## All that a change must pass
	.ci/run
