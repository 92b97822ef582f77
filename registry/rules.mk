# YARN's service registry: records, and where they are kept. ZooKeeper's client is loaded late, so nothing is linked.
REGISTRY_PKGS := jansson
CFLAGS_registry := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(REGISTRY_PKGS))
REGISTRY_A := $(BUILD)/libselvedge-registry.a
$(REGISTRY_A): $(call objects,registry)
LIBS += $(REGISTRY_A)
REGISTRY_DEPS = $(REGISTRY_A) $(FS_DEPS)
REGISTRY_LDLIBS = $(FS_LDLIBS) $(shell $(PKGCONFIG) --libs $(REGISTRY_PKGS))

UNIT_LINK_registry = $(REGISTRY_DEPS)
UNIT_LDLIBS_registry = $(REGISTRY_LDLIBS) $(shell $(PKGCONFIG) --libs libcurl)

# Records read and written beside Hadoop's client: tests/interop/test-registry.
TEST_PROGRAMS += $(BUILD)/tests/interop/registry-peer
$(BUILD)/tests/interop/registry-peer: $(BUILD)/tests/interop/registry-peer.o $(REGISTRY_DEPS)
	$(call link,$(UNIT_LDLIBS_registry))
# Nodes in memory in the place of a session.
registry/test-zookeeper_WRAP := sv_zk_new sv_zk_free sv_zk_create sv_zk_set sv_zk_get sv_zk_children sv_zk_remove
