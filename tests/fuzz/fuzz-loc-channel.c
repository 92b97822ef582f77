/* Fuzzes the localizer's channel, both directions: accepted input encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "localizer/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int from = LOC_PEER_NM; from <= LOC_PEER_LOCALIZER; from++) {
        struct loc_msg m, again;
        uint8_t buf[LOC_MSG_MAX];
        int n;

        if (loc_msg_decode(data, size, (enum loc_peer)from, &m) < 0)
            continue;
        n = loc_msg_encode(&m, buf);
        if (n != (int)size || (m.type != LOC_MSG_FAILED && memcmp(buf, data, size) != 0))
            abort();
        if (loc_msg_decode(buf, (size_t)n, (enum loc_peer)from, &again) < 0 ||
            memcmp(&m, &again, sizeof(m)) != 0)
            abort();
    }
    return 0;
}
