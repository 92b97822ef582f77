CGROUPS_A := $(BUILD)/libselvedge-cgroups.a
CGROUPS_OBJS := $(addprefix $(BUILD)/cgroups/, child-group.o file.o hierarchy.o limits.o root.o policy.o leaf.o remover.o usage.o)
$(CGROUPS_A): $(CGROUPS_OBJS)
LIBS += $(CGROUPS_A)
CGROUPS_PKGS := libcgroup libsystemd
CFLAGS_cgroups := $(shell $(PKGCONFIG) --cflags $(CGROUPS_PKGS))
CGROUPS_LDLIBS := $(shell $(PKGCONFIG) --libs $(CGROUPS_PKGS)) -pthread
$(BUILD)/container-holder: $(BUILD)/cgroups/holder.o $(CGROUPS_A) $(COMMON_A)
	$(call link,$(CGROUPS_LDLIBS) $(COMMON_LDLIBS))
PROGRAMS += $(BUILD)/container-holder
UNIT_LINK_cgroups = $(CGROUPS_A) $(COMMON_A)
UNIT_LDLIBS_cgroups = $(CGROUPS_LDLIBS) $(COMMON_LDLIBS)
