# File systems of jobs and logs, once for localizer, log uploader, log reader and command line.
FS_PKGS := jansson
CFLAGS_fs := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(FS_PKGS))
FS_A := $(BUILD)/libselvedge-fs.a
$(FS_A): $(call objects,fs)
LIBS += $(FS_A)
FS_DEPS = $(FS_A) $(HDFS_DEPS)
FS_LDLIBS = $(HDFS_LDLIBS) $(shell $(PKGCONFIG) --libs $(FS_PKGS))

UNIT_LINK_fs = $(FS_DEPS)
# Functions that a test has in the place of the product's.
fs/test-kms_WRAP := fs_web_get
UNIT_LDLIBS_fs = $(FS_LDLIBS) $(shell $(PKGCONFIG) --libs libcurl)

# Random operations, also against a real HDFS: tests/interop/test-hdfs.
FS_STEPS_OBJ := $(BUILD)/tests/lib/fs-steps.o
$(BUILD)/tests/unit/fs/test-local: $(FS_STEPS_OBJ)
TEST_PROGRAMS += $(BUILD)/tests/interop/fs-compare
$(BUILD)/tests/interop/fs-compare: $(BUILD)/tests/interop/fs-compare.o $(FS_STEPS_OBJ) $(FS_DEPS)
	$(call link,$(UNIT_LDLIBS_fs))

# One file of a protected HDFS: tests/interop/test-hdfs-transfer.
TEST_PROGRAMS += $(BUILD)/tests/interop/hdfs-copy
$(BUILD)/tests/interop/hdfs-copy: $(BUILD)/tests/interop/hdfs-copy.o $(FS_DEPS)
	$(call link,$(UNIT_LDLIBS_fs))
# The same client under load, beside Java's: tests/bench/bench-krb.
TEST_PROGRAMS += $(BUILD)/tests/bench/hdfs-load
$(BUILD)/tests/bench/hdfs-load: $(BUILD)/tests/bench/hdfs-load.o $(FS_DEPS)
	$(call link,$(UNIT_LDLIBS_fs))
