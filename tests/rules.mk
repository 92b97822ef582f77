# Unit tests: a room's rules.mk adds NAME to UNIT_TESTS and says what NAME links in
# NAME_DEPS (objects, archives) and NAME_LDLIBS. The source is tests/unit/NAME.c (cmocka).
CFLAGS_tests := $(CFLAGS_common)
define unit_test_rule
$(BUILD)/tests/unit/$(1): $(BUILD)/tests/unit/$(1).o $$($(1)_DEPS)
	$$(call link,$$($(1)_LDLIBS) -lcmocka)
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call unit_test_rule,$(t))))
unit-tests: $(addprefix $(BUILD)/tests/unit/,$(UNIT_TESTS))
.PHONY: unit-tests

# Fuzz targets: a room adds NAME to FUZZ_TARGETS, NAME_DEPS and NAME_LDLIBS as above. The source is
# tests/fuzz/NAME.c, its seeds are in tests/fuzz/corpus/<NAME without fuzz->. Everything is built a
# second time, by clang with libFuzzer's coverage and sanitizers, into build-fuzz.
FUZZ_SECONDS ?= 60
ifneq ($(FUZZ),)
CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
define fuzz_rule
$(BUILD)/tests/fuzz/$(1): $(BUILD)/tests/fuzz/$(1).o $$($(1)_DEPS)
	$$(call link,$$($(1)_LDLIBS) -fsanitize=fuzzer)
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_rule,$(t))))
fuzz-targets: $(addprefix $(BUILD)/tests/fuzz/,$(FUZZ_TARGETS))
endif
fuzz:
	$(Q)$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang FUZZ=1 fuzz-targets
	$(Q)set -e; for t in $(FUZZ_TARGETS); do \
		mkdir -p build-fuzz/corpus/$$t; seeds=tests/fuzz/corpus/$${t#fuzz-}; \
		build-fuzz/tests/fuzz/$$t -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
			-artifact_prefix=build-fuzz/ build-fuzz/corpus/$$t $$(test -d $$seeds && echo $$seeds); \
	done
.PHONY: fuzz fuzz-targets
