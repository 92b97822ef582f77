/* `selvedge federation deregister`: takes a member out of the federation that cannot do it
 * itself. */
#include <string.h>

#include "client/core/options.h"
#include "client/federation/federation.h"

int cli_cmd_federation_deregister(struct cli_ctx *ctx, int argc, char **argv)
{
    struct fed_request q = { .op = FED_MEMBER_DEREGISTER,
                             .member = { .state = FED_DECOMMISSIONED } };
    int c, code;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (c == 's' &&
            (fed_state_parse(optarg, &q.member.state) < 0 || !fed_state_final(q.member.state))) {
            (void)cli_fail("--state %s: expected SC_DECOMMISSIONED, SC_LOST or SC_UNREGISTERED",
                           optarg);
            return 2;
        }
    }
    if (argc - optind != 1)
        return cli_usage(ctx);
    q.member.id = argv[optind];
    code = cli_check_format(ctx);
    return code != 0 ? code : cli_federation_call(ctx, &q, NULL);
}
