# selvedge.pp, the policy module: built by `make selinux` with the distribution's development files
# (selinux-policy-dev, on Fedora selinux-policy-devel; both have this Makefile), not by `make`. If it exists,
# `make install` installs it.
SELINUX_DEVEL ?= /usr/share/selinux/devel/Makefile
SELINUX_PP := $(BUILD)/selinux/selvedge.pp
SELINUX_TYPE ?= default# of Debian; targeted on Fedora
$(SELINUX_PP): $(addprefix selinux/,selvedge.te selvedge.fc selvedge.if selvedge-ports.cil)
	@[ -e $(SELINUX_DEVEL) ] || { echo "$(SELINUX_DEVEL) is missing: packaging/install-deps deps-debian-vm.txt" >&2; exit 1; }
	$(call say,PP,$@)
	@rm -rf $(@D) && mkdir -p $(@D) && cp $^ $(@D)/
	$(Q)$(MAKE) -s -C $(@D) -f $(SELINUX_DEVEL) NAME=$(SELINUX_TYPE) selvedge.pp >$(@D)/log 2>&1 || \
		{ cat $(@D)/log >&2; exit 1; }
selinux: $(SELINUX_PP)
.PHONY: selinux
