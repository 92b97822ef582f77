# For people who work on the tree: the list of targets, the editor's database, git hooks. Documents are checked
# against the code by tests/tools/{check-wire-doc,hardening-table,print-states,check-docs,check-compat,check-cli}.
help:
	@tests/tools/make-help

# Generated headers must be there for an editor to find them.
compdb: $$(GENERATED)
	$(Q)MAKE='$(MAKE)' tests/tools/compdb programs unit-tests $(TEST_PROGRAMS)

# What docs/compat.md says of RPC methods and REST paths, from the daemons.
compat-lists: programs
	$(Q)BUILD=$(BUILD) tests/tools/check-compat --write

# docs/commands.md, from the table of commands.
commands-page: programs
	$(Q)BUILD=$(BUILD) tests/tools/check-cli --write

# The tables of docs/service-definition.md, from those of service/definition/, and of docs/framework-exits.md.
DEFINITION_PAGES = $(addprefix $(BUILD)/tests/unit/service/,definition/test-manual engine/test-exit-table)
definition-page: $$(DEFINITION_PAGES)
	$(Q)for test in $^; do UPDATE=1 $$test || exit 1; done

hooks:
	$(Q)git config core.hooksPath .githooks

.PHONY: help compdb hooks compat-lists commands-page definition-page
ifeq ($(SANITIZE),)
UNIT_SCRIPTS += tests/tools/check-commits tests/tools/check-docs "tests/tools/make-help --check"
endif
