CGROUPS_A := $(BUILD)/libselvedge-cgroups.a
CGROUPS_OBJS := $(addprefix $(BUILD)/cgroups/, file.o hierarchy.o root.o leaf.o usage.o)
$(CGROUPS_A): $(CGROUPS_OBJS)
LIBS += $(CGROUPS_A)
CGROUPS_PKGS := libcgroup libsystemd
CFLAGS_cgroups := $(shell $(PKGCONFIG) --cflags $(CGROUPS_PKGS))
CGROUPS_LDLIBS := $(shell $(PKGCONFIG) --libs $(CGROUPS_PKGS))
