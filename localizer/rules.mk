# libselvedge-localizer.a: the NodeManager's side. container-localizer: fetches and unpacks.
LOCALIZER_PKGS := libarchive libcurl libseccomp libpcre2-8 zlib jansson
CFLAGS_localizer := $(shell $(PKGCONFIG) --cflags $(LOCALIZER_PKGS) libsystemd)

LOCALIZER_A := $(BUILD)/libselvedge-localizer.a
LOCALIZER_OBJS := $(addprefix $(BUILD)/localizer/, channel.o policy.o resource.o \
	cache.o cache-hierarchy.o cache-entry.o cache-process.o cache-recovery.o)
$(LOCALIZER_A): $(LOCALIZER_OBJS)
LIBS += $(LOCALIZER_A)

# A tar.gz is unpacked by ISA-L where it is installed, else by zlib; LIBISAL= builds without it.
LIBISAL ?= $(shell $(PKGCONFIG) --exists libisal && echo libisal)
LOCALIZER_PROGRAM_PKGS = $(LOCALIZER_PKGS) $(LIBISAL)

# The program links nothing of the daemon's side, and the daemon no parser of archives.
CONTAINER_LOCALIZER_OBJS := $(addprefix $(BUILD)/localizer/, main.o worker.o fetch.o \
	fetch-common.o fetch-file.o fetch-tree.o unpack.o gunzip.o inflate-$(if $(LIBISAL),isal,zlib).o disk.o policy.o channel.o)
$(BUILD)/container-localizer: $(CONTAINER_LOCALIZER_OBJS) $(FS_DEPS)
	$(call link,$(shell $(PKGCONFIG) --libs $(LOCALIZER_PROGRAM_PKGS)) $(HDFS_LDLIBS))
PROGRAMS += $(BUILD)/container-localizer

# The program's parts once more as an archive, for tests.
LOCALIZER_PROGRAM_A := $(BUILD)/tests/container-localizer.a
$(LOCALIZER_PROGRAM_A): $(filter-out %/main.o,$(CONTAINER_LOCALIZER_OBJS))
UNIT_LINK_localizer = $(LOCALIZER_PROGRAM_A) $(LOCALIZER_A) $(FS_DEPS)
UNIT_LDLIBS_localizer = $(HDFS_LDLIBS) $(shell $(PKGCONFIG) --libs $(LOCALIZER_PROGRAM_PKGS))
