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
