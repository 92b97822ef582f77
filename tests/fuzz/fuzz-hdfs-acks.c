/* Fuzzes a DataNode's acknowledgements of a block that is written. The first byte is the number of
 * DataNodes, the second the packet that is awaited; the rest are delimited acknowledgements.
 * Whatever they hold, the DataNode to blame is one of the pipeline, and a refusal has a text. */
#include "hdfs/ack.h"
#include "hdfs/delimited.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t nodes, used = 2;
    int64_t seqno;

    if (size < 2)
        return 0;
    nodes = data[0] % 4 + 1;
    seqno = data[1];
    while (used < size) {
        struct sv_error err = { 0 };
        size_t skip = 0, len = 0, bad = nodes;
        int r = hdfs_delimited(data + used, size - used, &skip, &len);

        if (r <= 0 || len > size - used - skip)
            return 0;
        r = hdfs_ack_check(data + used + skip, len, nodes, seqno, &bad, &err);
        MUST(r <= 1 && (r < 0) == (err.text[0] != 0));
        MUST(bad < nodes);
        if (r < 0)
            return 0;
        seqno += r;
        used += skip + len;
    }
    return 0;
}
