# For people who work on the tree: git hooks.
hooks:
	$(Q)git config core.hooksPath .githooks

.PHONY: hooks
ifeq ($(SANITIZE),)
UNIT_SCRIPTS += tests/tools/check-commits
endif
