# A client of HDFS: container-localizer reads files with it, log-uploader writes, the NodeManager has its configuration (conf.o) alone.
HDFS_PKGS := zlib libcrypto
CFLAGS_hdfs := $(CFLAGS_common)
HDFS_A := $(BUILD)/libselvedge-hdfs.a
HDFS_OBJS := $(call objects,hdfs)
$(HDFS_A): $(HDFS_OBJS)
LIBS += $(HDFS_A)
HDFS_DEPS = $(HDFS_A) $(WIRE_HDFS_A) $(WIRE_A) $(COMMON_A)
HDFS_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(HDFS_PKGS))

UNIT_LINK_hdfs = $(HDFS_DEPS)
UNIT_LDLIBS_hdfs = $(HDFS_LDLIBS)
# Functions that a test has in the place of the product's.
hdfs/test-striped-reader_WRAP := hdfs_datanode_read
hdfs/test-zone_WRAP := hdfs_namenode_defaults
