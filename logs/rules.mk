# Aggregated logs: the file that a NodeManager writes for an application and that `selvedge logs` reads.
CFLAGS_logs := $(CFLAGS_common)
LOGS_A := $(BUILD)/libselvedge-logs.a
# Blocks are compressed by libdeflate where it is installed, else by zlib; LIBDEFLATE= builds without it.
LIBDEFLATE ?= $(shell $(PKGCONFIG) --exists libdeflate && echo libdeflate)
LOGS_OBJS := $(addprefix $(BUILD)/logs/, deflate-$(if $(LIBDEFLATE),libdeflate,zlib).o vint.o java-utf.o bcfile.o bcfile-writer.o bcfile-reader.o block-reader.o tfile-writer.o tfile-reader.o \
	aggregated-writer.o aggregated-reader.o indexed-reader.o indexed-meta.o java-stream.o upload-request.o)
$(LOGS_A): $(LOGS_OBJS)
LIBS += $(LOGS_A)
# Reading the remote log directory, over fs/.
LOGS_REMOTE_OBJS := $(addprefix $(BUILD)/logs/, remote.o names.o)
# log-uploader, the program of a job's account. The NodeManager links the request and nothing else of it.
LOG_UPLOADER_OBJS := $(addprefix $(BUILD)/logs/, upload-main.o upload-files.o upload-containers.o upload-holes.o upload-remote-dirs.o \
	upload-pace.o upload-rolling.o upload-store.o uploaded-list.o names.o)
LOG_UPLOADER_LIBS = $(LOGS_LDLIBS) $(HDFS_LDLIBS) $(shell $(PKGCONFIG) --libs libseccomp libpcre2-8 libcurl jansson)
$(BUILD)/log-uploader: $(LOG_UPLOADER_OBJS) $(LOGS_A) $(FS_DEPS)
	$(call link,$(LOG_UPLOADER_LIBS))
PROGRAMS += $(BUILD)/log-uploader

LOGS_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs zlib $(LIBDEFLATE))

LOG_UPLOADER_A := $(BUILD)/tests/log-uploader.a
$(LOG_UPLOADER_A): $(filter-out %/upload-main.o,$(LOG_UPLOADER_OBJS))
UNIT_LINK_logs = $(LOG_UPLOADER_A) $(LOGS_A) $(FS_DEPS)
UNIT_LDLIBS_logs = $(LOG_UPLOADER_LIBS)

$(BUILD)/tests/integration/logs/logs-dump: $(BUILD)/tests/integration/logs/logs-dump.o $(LOGS_A) $(COMMON_A)
	$(call link,$(LOGS_LDLIBS) $(shell $(PKGCONFIG) --libs libcrypto))
TEST_PROGRAMS += $(BUILD)/tests/integration/logs/logs-dump
