# Selvedge: one non-recursive build. Each component brings a rules.mk with its explicit object lists;
# everything built lands under $(BUILD). See CONTRIBUTING.md.
#
#   make [SANITIZE=1] [CC=clang] [BUILD=dir] [V=1]
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDEXPANSION:

CC        ?= gcc
ifeq ($(origin CC),default)
CC        := gcc
endif
AR        := ar
PROTOC_C  ?= protoc-c
PKGCONFIG ?= pkg-config
# These targets build nothing, or install missing packages first, pkg-config included, and build in a make of their own.
ifneq ($(MAKECMDGOALS),)
ifeq ($(filter-out deps demo demo-end check check-fast check-full check-vm clean help hooks,$(MAKECMDGOALS)),)
PKGCONFIG := :
endif
endif
# Of the compiler, which may be a cross compiler (docs/develop/build.md): its machine, where its headers and libraries are.
MACHINE   := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
SYSROOT   := $(patsubst %/,%,$(shell $(CC) -print-sysroot 2>/dev/null))
SANITIZE  ?=
BUILD     ?= $(if $(SANITIZE),build-asan,build)
PREFIX    ?= /usr
SYSCONFDIR ?= /etc
LIBEXECDIR ?= $(PREFIX)/libexec/selvedge
LIBDIR ?= $(PREFIX)/lib
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
DESTDIR   ?=
# Compiled into container-executor and container-prepare, never read from environment or arguments.
EXECUTOR_CONF ?= $(SYSCONFDIR)/selvedge/container-executor.cfg
EXECUTOR_STATE ?= /run/selvedge/executor

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-6s %s\n' $(1) $(2)
endif

CSTD     := -std=gnu17
WARN     := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wvla -Wformat=2 -Wno-missing-field-initializers
# $(call cc_flag,FLAG…): the flags that $(CC) supports (clang before 16 needs a second one for
# zero initialisation).
cc_flag  = $(if $(shell $(CC) $(1) -Werror -E -xc /dev/null >/dev/null 2>&1 && echo y),$(1))
HARDEN_BASE := -fstack-protector-strong $(or $(call cc_flag,-fcf-protection),$(call cc_flag,-mbranch-protection=standard)) -fstack-clash-protection \
            $(or $(call cc_flag,-ftrivial-auto-var-init=zero),$(call cc_flag,-ftrivial-auto-var-init=zero \
            -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang))
FORTIFY  := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(if $(findstring clang,$(CC)),2,3)
ifneq ($(SANITIZE),)
HARDEN   := $(HARDEN_BASE) -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT      := -O1 -g
LDSAN    := -fsanitize=address,undefined
else
HARDEN   := $(HARDEN_BASE) $(FORTIFY)
OPT      := -O2 -g
endif
# No name of the build's directory in the programs: the same bytes anywhere.
OPT      += -ffile-prefix-map=$(CURDIR)=.
CPPFLAGS += -D_GNU_SOURCE -I. -I$(BUILD)/gen
CFLAGS   += $(CSTD) $(WARN) $(HARDEN) $(OPT) -fPIE
LDFLAGS  += -pie -Wl,--as-needed,-z,relro,-z,now,-z,noexecstack $(LDSAN)

PROGRAMS  :=# binaries, each with its own object list in its component
LIBS      :=
GENERATED :=# headers and sources that must exist before anything compiles
# $(call objects,FOLDER…): the objects of all C sources of these folders.
objects    = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(addsuffix /*.c,$(1))))

all: programs

# Components in dependency order: a component includes only headers of those before it in this list.
include common/rules.mk
include wire/rules.mk
include gss/rules.mk
include cgroups/rules.mk
include executor/rules.mk
include setuid-helper/rules.mk
include hdfs/rules.mk
include fs/rules.mk
include registry/rules.mk
include localizer/rules.mk
include logs/rules.mk
include shuffle/rules.mk
include federation/rules.mk
include router/rules.mk
include nodemanager/rules.mk
include rm-lite/rules.mk
include client/rules.mk
include service/rules.mk
include selinux/rules.mk
include packaging/rules.mk
include tests/rules.mk
include docs/rules.mk

programs: $(PROGRAMS) $(LIBS)

# Objects of other flags are compiled again. The place of the tree is not in the text: it is not in the objects either.
FLAGS_TEXT := $(subst $(CURDIR),.,$(subst $(CURDIR)/,,$(filter-out ccache,$(CC)) $(CPPFLAGS) $(CFLAGS)))
FLAGS_STAMP := $(BUILD)/flags.stamp
$(FLAGS_STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS_TEXT)' | cmp -s - $@ || printf '%s\n' '$(FLAGS_TEXT)' >$@

$(BUILD)/%.o: %.c $$(FLAGS_STAMP) | $$(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(CFLAGS_$(firstword $(subst /, ,$*))) -MMD -MP -c -o $@ $<

# Generated sources are compiled from $(BUILD)/gen without our warnings.
$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $$(FLAGS_STAMP) | $$(GENERATED)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -W%,$(CFLAGS)) -MMD -MP -c -o $@ $<

%.a:
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# link: objects and archives in the order given, then the libraries in $(1).
define link
$(call say,LD,$@)
@mkdir -p $(@D)
$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1)
endef

clean:
	rm -rf build build-asan build-asan-gcc build-clang build-fuzz build-delays

# $(BUILD)/vm holds the file trees of virtual machines.
-include $(shell test -d $(BUILD) && find $(BUILD) -path $(BUILD)/vm -prune -o -name '*.d' -type f -print)

.PHONY: all programs clean
