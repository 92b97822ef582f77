/* Ends a process that is out of memory; see oom.h. */
#include "common/oom.h"

#include <stdlib.h>

#include "common/log.h"

void sv_out_of_memory(void)
{
    sv_log_err("out of memory: stopping, a restart recovers from the state store");
    abort();
}
