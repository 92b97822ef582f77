# Installation, dependencies. The table of installed files is packaging/modes.

UNITS := $(addprefix $(BUILD)/packaging/, selvedge-containers.service selvedge-executor.socket \
	selvedge-executor@.service selvedge-gss@.service selvedge-nodemanager.service selvedge-rm.service selvedge-router.service selvedge-services.service \
	selvedge-client.pc)
# They contain the paths of this build: rebuilt whenever those may have changed.
$(UNITS): $(BUILD)/packaging/%: packaging/%.in FORCE
	@mkdir -p $(@D)
	$(Q)new=$@.$$$$; sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|g' \
		-e 's|@LIBEXECDIR@|$(LIBEXECDIR)|g' -e 's|@VERSION@|$(PACKAGE_VERSION)|g' $< >$$new && \
		if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi # two makes may be at it
PROGRAMS += $(UNITS)
# The same sandbox for the helper of another daemon.
GSS_RM := $(BUILD)/packaging/selvedge-gss-rm@.service
$(GSS_RM): $(BUILD)/packaging/selvedge-gss@.service packaging/rules.mk
	$(Q)sed -E -e 's/NodeManager/ResourceManager/; s/nm\.service/rm.service/; s/selvedge-gss@/selvedge-gss-rm@/' \
		-e 's/^(User|Group)=selvedge-gss$$/&-rm/' $< >$@.$$$$ && mv $@.$$$$ $@
PROGRAMS += $(GSS_RM)

# Man pages of the daemons, by themselves, and of the helper's configuration. A cross build runs native programs.
MANUALS := $(patsubst %,$(BUILD)/packaging/selvedge-%.8,nodemanager rm router services) $(BUILD)/packaging/container-executor.cfg.5
$(BUILD)/packaging/selvedge-%.8: $$(dir $$(SELVEDGE_MANUAL))selvedge-% packaging/manual packaging/packages
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)packaging/manual $< $(if $(filter nodemanager,$*),--print-config,--print-conf) >$@.new && mv $@.new $@
$(BUILD)/packaging/container-executor.cfg.5: docs/operate/executor-cfg.md packaging/manual
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)packaging/manual $< container-executor.cfg 5 'what root allows the NodeManager' >$@.new && mv $@.new $@
PROGRAMS += $(MANUALS)

# Installs the existing build: `make install` builds nothing as root.
install: programs
	$(Q)PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' LIBEXECDIR='$(LIBEXECDIR)' \
		LIBDIR='$(LIBDIR)' PYTHONDIR='$(PYTHONDIR)' BUILD='$(BUILD)' DESTDIR='$(DESTDIR)' packaging/install-files

# Installs missing packages of packaging/deps-debian.txt (apt) or deps-fedora.txt (dnf).
deps:
	$(Q)packaging/install-deps
# Further packages of the VM tests; their VM is a Debian, built on Debian.
deps-vm: deps
	$(Q)! command -v apt-get >/dev/null || packaging/install-deps deps-debian-vm.txt

# Further packages of make check-full: a browser. On Fedora it is to be installed by hand.
deps-full: deps
	$(Q)! command -v apt-get >/dev/null || packaging/install-deps deps-debian-full.txt

.PHONY: install deps deps-vm deps-full

# What runs with privilege: its sources, then the binary and the filters.
tcb: programs
	$(Q)CC='$(CC)' tests/tools/tcb
	$(Q)CC='$(CC)' tests/tools/tcb-operations $(HELPER_SOURCES)
	$(Q)packaging/tcb-report $(BUILD)
.PHONY: tcb

# Packages from the existing build, for this machine's distribution family. One version, one tree, the same bytes.
PACKAGE_VERSION ?= $(shell sed -n 's/^\#define SV_VERSION "\(.*\)"/\1/p' common/version.h)
deb: programs
	$(Q)BUILD='$(BUILD)' VERSION='$(PACKAGE_VERSION)' packaging/build-deb $(BUILD)/deb
rpm: programs
	$(Q)BUILD='$(BUILD)' VERSION='$(PACKAGE_VERSION)' packaging/build-rpm $(BUILD)/rpm
.PHONY: deb rpm
