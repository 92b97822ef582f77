/* Fuzzes answers of a NameNode: getFileInfo, getBlockLocations, getListing, getDataEncryptionKey.
 * Accepted answers keep the promises of hdfs/answers.h.
 *
 * The first byte selects the message, the next 4 the requested offset and length. */
#include <string.h>

#include "common/arena.h"
#include "hdfs/answers.h"
#include "proto/hdfs_namenode.pb-c.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void status(const Hadoop__Hdfs__HdfsFileStatusProto *m)
{
    struct sv_error err = { 0 };
    struct hdfs_status s;

    if (!m)
        return;
    if (hdfs_answer_status(m, &s, &err) < 0)
        MUST(err.text[0]);
    else
        MUST(s.length <= HDFS_FILE_MAX && s.mtime_ms >= 0 && s.mode <= 0777 &&
             s.kind >= HDFS_DIRECTORY && s.kind <= HDFS_SYMLINK);
}

static void encryption(const Hadoop__Hdfs__FileEncryptionInfoProto *m)
{
    struct sv_error err = { 0 };
    struct hdfs_edek e;

    if (hdfs_answer_edek(m, &e, &err) < 0) {
        MUST(err.text[0]);
        return;
    }
    MUST(m ? e.n == 16 || e.n == 24 || e.n == HDFS_KEY_MAX : e.n == 0);
    MUST(!m || (e.name[0] && e.version[0]));
    MUST(!strchr(e.name, '/') && !strchr(e.version, '/') && strcmp(e.version, "..") != 0);
}

static void blocks(const Hadoop__Hdfs__LocatedBlocksProto *m, uint16_t from, uint16_t length)
{
    struct sv_error err = { 0 };
    uint64_t end;

    if (!m)
        return;
    encryption(m->fileencryptioninfo);
    if (from >= length)
        return;
    if (hdfs_answer_blocks(m, from, length, &err) < 0) {
        MUST(err.text[0]);
        return;
    }
    end = m->blocks[0]->offset;
    MUST(end <= from);
    for (size_t i = 0; i < m->n_blocks; i++) {
        MUST(m->blocks[i]->offset == end && m->blocks[i]->b->numbytes > 0);
        end += m->blocks[i]->b->numbytes;
        for (size_t d = 0; d < m->blocks[i]->n_locs; d++)
            MUST(m->blocks[i]->locs[d]->id->xferport <= UINT16_MAX);
    }
    MUST(end > from && end <= length);
}

static void listing(const Hadoop__Hdfs__DirectoryListingProto *m, struct sv_arena *a)
{
    struct sv_error err = { 0 };
    struct hdfs_listing l;

    if (!m)
        return;
    if (hdfs_answer_listing(m, a, &l, &err) < 0) {
        MUST(err.text[0]);
        return;
    }
    MUST(l.n == m->n_partiallisting && (l.n > 0 || !l.more));
    for (size_t i = 0; i < l.n; i++)
        MUST(l.children[i].name[0] && !strchr(l.children[i].name, '/') &&
             strlen(l.children[i].name) <= HDFS_NAME_MAX && strcmp(l.children[i].name, "..") != 0);
}

static void data_key(const Hadoop__Hdfs__DataEncryptionKeyProto *m)
{
    struct sv_error err = { 0 };
    struct hdfs_data_key k;

    if (!m)
        return;
    if (hdfs_answer_data_key(m, &k, &err) < 0)
        MUST(err.text[0]);
    else
        MUST(k.user[0] && k.password[0] && !strpbrk(k.user, "\"\\\n") && k.until_ms >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    const ProtobufCMessageDescriptor *d;
    ProtobufCMessage *m;
    uint16_t from, length;
    unsigned kind;

    if (size < 5)
        return 0;
    kind = data[0] & 4 ? 4 : data[0] & 3;
    memcpy(&from, data + 1, 2);
    memcpy(&length, data + 3, 2);
    data += 5;
    size -= 5;
    d = kind == 1   ? &hadoop__hdfs__get_file_info_response_proto__descriptor
        : kind == 2 ? &hadoop__hdfs__get_listing_response_proto__descriptor
        : kind == 4 ? &hadoop__hdfs__get_data_encryption_key_response_proto__descriptor
                    : &hadoop__hdfs__get_block_locations_response_proto__descriptor;
    a = sv_arena_new(ipc_arena_max(size));
    if (!a || ipc_unpack(a, d, data, size, &m) < 0)
        return 0;
    if (kind == 2)
        listing(((const Hadoop__Hdfs__GetListingResponseProto *)m)->dirlist, a);
    else if (kind == 4)
        data_key(((const Hadoop__Hdfs__GetDataEncryptionKeyResponseProto *)m)->dataencryptionkey);
    else if (kind == 1)
        status(((const Hadoop__Hdfs__GetFileInfoResponseProto *)m)->fs);
    else
        blocks(((const Hadoop__Hdfs__GetBlockLocationsResponseProto *)m)->locations, from, length);
    return 0;
}
