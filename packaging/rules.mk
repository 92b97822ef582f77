# Installation, dependencies. The table of installed files is packaging/modes.

# Takes what is built; `make install` after `sudo make` builds nothing as root.
install: programs
	$(Q)PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' LIBEXECDIR='$(LIBEXECDIR)' \
		BUILD='$(BUILD)' DESTDIR='$(DESTDIR)' packaging/install-files

# Installs what is missing of packaging/deps-debian.txt (apt) or deps-fedora.txt (dnf).
deps:
	$(Q)packaging/install-deps

.PHONY: install deps

# What runs with privilege, and how large it is. HELPER_OBJS is the helper's object list.
tcb: programs
	$(Q)CC='$(CC)' packaging/tcb-report $(BUILD) $(patsubst $(BUILD)/%.o,%.c,$(HELPER_OBJS))
.PHONY: tcb
