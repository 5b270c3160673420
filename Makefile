# SPDX-License-Identifier: Apache-2.0
# Every target first installs what it lacks (third_party/install.sh), so each works on a fresh machine.
#
#   make demo      the demonstration: two small applications of our own, profiled and compared
#   make demo-full the same with windows of full length, whose words are findings (35 minutes)
#   make test      all tests that need no real application, engine or scheduler
#   make faults    each call that changes evidence fails once, every third one; ALL=1: all
#   make fuzz      parsers under random bytes, SECONDS=8 for each of them
#   make soak      awkward applications 50 times, SCHEDULES=5000000 simulated kernels per profile (of
#                  a release build), harness and supervisor killed 100 times each
#   make mutants   faults put into copies of the core by hand: a test notices each
#   make vectors   golden vectors, or any FILE=… of their form
#   make real      tests against real applications and engines
#   make bench     own cost and exactness, beside the peers and the bare system calls; SECTIONS=…
#   make lint      static checks and formatting
#   make darwin    cross-build for macOS arm64: layouts and symbols are checked, nothing is run
#   make install   PREFIX=/usr/local DESTDIR=

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.NOTPARALLEL:
.PHONY: all demo demo-full test faults fuzz soak mutants vectors real bench lint darwin install

PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 8
SCHEDULES ?= 5000000
FILE ?= tests/vectors/statistics.json
SECTIONS ?=
JOBS := $(shell getconf _NPROCESSORS_ONLN)

ifeq ($(shell uname -s),Darwin) # Homebrew does not link these two into its prefix
export PATH := $(shell brew --prefix lua@5.4)/bin:$(PATH)
export OPENSSL_ROOT_DIR := $(shell brew --prefix openssl@3)
export PKG_CONFIG_PATH := $(shell brew --prefix lua@5.4)/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

# $(call build,preset,extra configure arguments)
define build
	@echo "== build $(1)"
	@cmake --preset $(1) $(2) --log-level=WARNING >/dev/null
	@cmake --build --preset $(1) -j $(JOBS)
endef

all:
	@third_party/install.sh build
	$(call build,release)

demo:
	@third_party/install.sh demo
	$(call build,release)
	@scenarios/demo/run.sh

demo-full:
	@third_party/install.sh demo
	$(call build,release)
	@scenarios/demo/run.sh --full

test:
	@third_party/install.sh test
	$(call build,debug)
	@PP_REPEAT=5 tests/run.sh build/debug core sim live contracts lua cli
	$(call build,core)
	@tests/run.sh build/core core

faults:
	@third_party/install.sh test
	$(call build,debug)
	@tests/faults.sh build/debug $(if $(ALL),1,3)

fuzz:
	@third_party/install.sh test fuzz
	$(call build,fuzz)
	@tests/fuzz/run.sh build/fuzz $(SECONDS)

soak:
	@third_party/install.sh test
	$(call build,debug)
	$(call build,sim)
	@tests/soak.sh build/debug build/sim $(SCHEDULES)

mutants:
	@third_party/install.sh test
	@tests/mutants/run.sh

vectors:
	@third_party/install.sh test
	$(call build,debug)
	@tests/run.sh build/debug vectors "$(FILE)"

real:
	@third_party/install.sh real
	$(call build,release)
	@tests/real/run.sh

bench:
	@third_party/install.sh bench
	$(call build,release)
	@tests/bench/run.sh build/release $(SECTIONS)

lint:
	@third_party/install.sh lint
	@tools/lint.sh

darwin:
	@third_party/install.sh darwin
	@cmake/darwin/build.sh

install:
	@third_party/install.sh build
	$(call build,release,-DCMAKE_INSTALL_PREFIX=$(PREFIX))
	@DESTDIR=$(DESTDIR) cmake --install build/release
