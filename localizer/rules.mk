# libselvedge-localizer.a: the NodeManager's side. container-localizer: fetches and unpacks.
LOCALIZER_PKGS := libarchive libcurl libseccomp libpcre2-8 zlib jansson
CFLAGS_localizer := $(shell $(PKGCONFIG) --cflags $(LOCALIZER_PKGS) libsystemd)

LOCALIZER_A := $(BUILD)/libselvedge-localizer.a
LOCALIZER_OBJS := $(addprefix $(BUILD)/localizer/, channel.o url.o policy.o resource.o \
	cache.o cache-hierarchy.o cache-entry.o cache-process.o cache-recovery.o)
$(LOCALIZER_A): $(LOCALIZER_OBJS)
LIBS += $(LOCALIZER_A)

# The program links nothing of the daemon's side, and the daemon no parser of archives.
CONTAINER_LOCALIZER_OBJS := $(addprefix $(BUILD)/localizer/, main.o worker.o sandbox.o fetch.o \
	fetch-common.o fetch-file.o fetch-tree.o fetch-file-tree.o http-get.o fetch-http.o fetch-s3.o sigv4.o fetch-hdfs.o fetch-webhdfs.o webhdfs-json.o \
	unpack.o pattern.o disk.o policy.o url.o channel.o)
$(BUILD)/container-localizer: $(CONTAINER_LOCALIZER_OBJS) $(HDFS_DEPS)
	$(call link,$(shell $(PKGCONFIG) --libs $(LOCALIZER_PKGS)) $(HDFS_LDLIBS))
PROGRAMS += $(BUILD)/container-localizer

LOC_UNPACK_OBJS := $(addprefix $(BUILD)/localizer/, unpack.o pattern.o policy.o)
UNIT_TESTS += localizer/test-channel localizer/test-url localizer/test-policy
localizer/test-channel_DEPS := $(LOCALIZER_A) $(COMMON_A)
localizer/test-channel_LDLIBS := $(COMMON_LDLIBS)
localizer/test-url_DEPS := $(LOCALIZER_A) $(COMMON_A)
localizer/test-url_LDLIBS := $(COMMON_LDLIBS)
localizer/test-policy_DEPS := $(LOC_UNPACK_OBJS) $(COMMON_A)
localizer/test-policy_LDLIBS := $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs libarchive libpcre2-8)
UNIT_TESTS += localizer/test-cache localizer/test-cache-recovery
localizer/test-cache_DEPS = $(LOCALIZER_A) $(WIRE_A) $(COMMON_A)
localizer/test-cache_LDLIBS = $(WIRE_LDLIBS)
localizer/test-cache-recovery_DEPS = $(localizer/test-cache_DEPS)
localizer/test-cache-recovery_LDLIBS = $(localizer/test-cache_LDLIBS)

UNIT_TESTS += localizer/test-webhdfs-json localizer/test-sigv4
localizer/test-sigv4_DEPS := $(BUILD)/localizer/sigv4.o $(COMMON_A)
localizer/test-sigv4_LDLIBS := $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs libcrypto)
localizer/test-webhdfs-json_DEPS := $(BUILD)/localizer/webhdfs-json.o $(LOCALIZER_A) $(COMMON_A)
localizer/test-webhdfs-json_LDLIBS := $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)

FUZZ_TARGETS += fuzz-archive-policy fuzz-loc-channel fuzz-url fuzz-webhdfs
fuzz-webhdfs_DEPS = $(localizer/test-webhdfs-json_DEPS)
fuzz-webhdfs_LDLIBS = $(localizer/test-webhdfs-json_LDLIBS)
fuzz-archive-policy_DEPS = $(LOC_UNPACK_OBJS) $(COMMON_A)
fuzz-archive-policy_LDLIBS = $(localizer/test-policy_LDLIBS)
fuzz-loc-channel_DEPS = $(LOCALIZER_A) $(COMMON_A)
fuzz-loc-channel_LDLIBS = $(COMMON_LDLIBS)
fuzz-url_DEPS = $(LOCALIZER_A) $(COMMON_A)
fuzz-url_LDLIBS = $(COMMON_LDLIBS)
