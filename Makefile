# Two commands on a fresh machine: `make demo` and `make test`. Everything runs where the packages of
# tools/packages.txt are (see tools/environment.sh); CMake does the building.
ENVIRONMENT := tools/environment.sh run
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := all
.PHONY: all demo test bench mutation lint format asan install clean help

all: build/release/.built ## build ./onnx-parity

# The stamp is always remade: ninja knows best what is out of date.
.PHONY: build/release/.built
build/release/.built:
	@$(ENVIRONMENT) tools/build.sh release
	@install -m 755 tools/launcher.sh onnx-parity

demo: all ## export BackgroundMattingV2 with synthetic weights and validate it
	@mkdir -p build/demo
	./onnx-parity export --model-type mattingrefine --model-backbone mobilenetv2 --model-refine-mode sampling --output build/demo/model.onnx --validate

test: ## build and run every test
	@$(ENVIRONMENT) tools/build.sh dev
	@$(ENVIRONMENT) tools/test.sh dev

asan: ## build and run the tests under AddressSanitizer and UBSan
	@$(ENVIRONMENT) tools/build.sh asan
	@$(ENVIRONMENT) tools/test.sh asan

bench: all ## measure speed and memory, as ratios in one run
	@$(ENVIRONMENT) tools/build.sh bench
	@$(ENVIRONMENT) tools/bench.sh

mutation: ## plant faults and see whether they are found; every trial goes to build/dev/mutation.json
	@$(ENVIRONMENT) tools/build.sh dev
	@$(ENVIRONMENT) tools/mutation.sh

lint: ## clang-format and clang-tidy
	@$(ENVIRONMENT) tools/build.sh dev
	@$(ENVIRONMENT) tools/lint.sh

format: ## rewrite the sources as clang-format wants them
	@$(ENVIRONMENT) tools/lint.sh --fix

install: all ## install below PREFIX (default /usr/local); DESTDIR is honoured
	@DESTDIR="$(DESTDIR)" $(ENVIRONMENT) cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove everything that was built; the private Debian root stays
	rm -rf build onnx-parity

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12
