# A client of HDFS: container-localizer reads files with it, log-uploader writes, the NodeManager has its configuration (conf.o) alone.
HDFS_PKGS := zlib libcrypto
CFLAGS_hdfs := $(CFLAGS_common)
HDFS_A := $(BUILD)/libselvedge-hdfs.a
HDFS_OBJS := $(addprefix $(BUILD)/hdfs/, conf.o checksum.o packet.o answers.o ack.o namenode.o namenode-write.o connection.o pipeline.o file-writer.o datanode.o file.o public.o)
$(HDFS_A): $(HDFS_OBJS)
LIBS += $(HDFS_A)
HDFS_DEPS = $(HDFS_A) $(WIRE_HDFS_A) $(WIRE_A) $(COMMON_A)
HDFS_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(HDFS_PKGS))

HDFS_TESTS := hdfs/test-checksum hdfs/test-packet hdfs/test-ack hdfs/test-answers hdfs/test-conf
UNIT_TESTS += $(HDFS_TESTS)
$(foreach t,$(HDFS_TESTS),$(eval $(t)_DEPS = $$(HDFS_DEPS)))
$(foreach t,$(HDFS_TESTS),$(eval $(t)_LDLIBS = $$(HDFS_LDLIBS)))

FUZZ_TARGETS += fuzz-hdfs-packets fuzz-hdfs-answers fuzz-hdfs-acks
fuzz-hdfs-acks_DEPS = $(HDFS_DEPS)
fuzz-hdfs-acks_LDLIBS = $(HDFS_LDLIBS)
fuzz-hdfs-packets_DEPS = $(HDFS_DEPS)
fuzz-hdfs-packets_LDLIBS = $(HDFS_LDLIBS)
fuzz-hdfs-answers_DEPS = $(HDFS_DEPS)
fuzz-hdfs-answers_LDLIBS = $(HDFS_LDLIBS)
