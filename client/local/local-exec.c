/* `selvedge exec --local`: a session with the NodeManager of this machine, which knows the caller
 * by the bus. */
#include "client/core/commands.h"
#include "client/exec/exec.h"
#include "client/local/local-bus.h"
#include "client/local/local.h"

int cli_local_exec(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_bus_ struct cli_bus *b = NULL;
    struct cli_exec_session s;
    struct cli_exec_link *link = NULL;
    const char *container;
    int code = cli_exec_parse(ctx, argc, argv, &container, &s), fd = -1;

    if (code == 0 && !s.local) /* a word of the program's */
        return cli_cmd_exec(ctx, argc, argv);
    if (code == 0)
        code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = cli_bus_session(b, container, &fd);
    if (code != 0)
        return code == 2 ? 2 : CLI_EXEC_FAILED;
    if (cli_exec_link_of(fd, &link) < 0) {
        (void)cli_fail("out of memory");
        return CLI_EXEC_FAILED;
    }
    code = cli_exec_relay(link, &s);
    (void)cli_exec_link_free(link);
    return code;
}
