/* See conf-logs.h. */
#include "nodemanager/conf/conf-logs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"

#define NM "yarn.nodemanager."
#define AGGREGATION "yarn.log-aggregation."
#define POLICY_PACKAGE "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation."

enum {
    K_ENABLE,
    K_DIR,
    K_SUFFIX,
    K_TFILE_DIR,
    K_TFILE_SUFFIX,
    K_GROUP,
    K_COMPRESSION,
    K_POLICY,
    K_PARAMETERS,
    K_FORMATS,
    K_THREADS,
    K_CLEANUP,
    K_ROLLING,
    K_ROLLING_MIN,
    K_DEBUG,
    K_FILES,
    K_RATE,
    K_OLDER,
    K_SERVER,
    K_SERVICE,
    K_EXPIRY,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ENABLE] = { "yarn.log-aggregation-enable", SV_CONF_BOOL, "false", .help = "Upload the logs of ended applications into the remote log directory." },
    [K_DIR] = { NM "remote-app-log-dir", SV_CONF_STRING, "/tmp/logs", .help = "Remote log directory: hdfs:, webhdfs: or file:, of fs.defaultFS without a scheme; mode 1777." },
    [K_SUFFIX] = { NM "remote-app-log-dir-suffix", SV_CONF_STRING, "logs", .help = "The directory below the user's is bucket-SUFFIX-tfile." },
    [K_TFILE_DIR] = { AGGREGATION "TFile.remote-app-log-dir", SV_CONF_STRING, NULL, .help = "In place of yarn.nodemanager.remote-app-log-dir." },
    [K_TFILE_SUFFIX] = { AGGREGATION "TFile.remote-app-log-dir-suffix", SV_CONF_STRING, NULL, .help = "The directory below the user's is then bucket-SUFFIX." },
    [K_GROUP] = { NM "remote-app-log-dir.groupname", SV_CONF_STRING, "", .help = "Group of new directories below the remote log directory; empty: the account's own." },
    [K_COMPRESSION] = { NM "log-aggregation.compression-type", SV_CONF_STRING, "none", .help = "none or gz; lzo is refused." },
    [K_POLICY] = { NM "log-aggregation.policy.class", SV_CONF_STRING, POLICY_PACKAGE "AllContainerLogAggregationPolicy", .help = "Which containers' logs are uploaded, for applications that do not say it." },
    [K_PARAMETERS] = { NM "log-aggregation.policy.parameters", SV_CONF_STRING, "", .help = "Of SampleContainerLogAggregationPolicy: SR:0.2,MIN:20 takes one in five of the successful tasks behind the first 20." },
    [K_FORMATS] = { AGGREGATION "file-formats", SV_CONF_LIST, "TFile", .help = "Must have TFile, the one that is written." },
    [K_THREADS] = { NM "logaggregation.threadpool-size-max", SV_CONF_INT, "100", .min = 1, .max = 1000, .help = "Uploads at a time." },
    [K_CLEANUP] = { AGGREGATION "enable-local-cleanup", SV_CONF_BOOL, "true", .help = "Delete uploaded logs from the node at once; false: after yarn.nodemanager.log.retain-seconds." },
    [K_ROLLING] = { NM "log-aggregation.roll-monitoring-interval-seconds", SV_CONF_INT, "-1", .min = -1, .max = INT32_MAX, .help = "Seconds between uploads of the rolled logs of applications that run and name such in their LogAggregationContext; -1: at their end alone." },
    [K_ROLLING_MIN] = { NM "log-aggregation.roll-monitoring-interval-seconds.min", SV_CONF_INT, "3600", .min = 1, .max = INT32_MAX, .help = "A shorter roll-monitoring-interval-seconds counts as this." },
    [K_DEBUG] = { NM "log-aggregation.debug-enabled", SV_CONF_BOOL, "false", .help = "Lifts the minimum of roll-monitoring-interval-seconds." },
    [K_FILES] = { NM "log-aggregation.num-log-files-per-app", SV_CONF_INT, "30", .min = -1, .max = INT32_MAX, .help = "Files of this node in the remote directory of an application whose logs are rolled: the oldest are deleted; 0 or -1 count as 30." },
    [K_RATE] = { "selvedge.nodemanager.log-aggregation.bytes-per-second", SV_CONF_INT, "0", .min = 0, .max = INT64_MAX, .help = "Bytes that all uploads of logs of this node write in a second; 0: no limit." },
    [K_OLDER] = { "selvedge.nodemanager.log-aggregation.older-layout", SV_CONF_BOOL, "false", .help = "Upload logs to {user}/SUFFIX/{application}, where yarn logs of Hadoop before 3.3 looks for them." },
    [K_SERVICE] = { "yarn.log.server.web-service.url", SV_CONF_STRING, "", .help = "Where REST clients are sent for logs that the node has no more: http://HOST:8188/ws/v1/applicationhistory, or http://HOST:19888/ws/v1/history." },
    [K_SERVER] = { "yarn.log.server.url", SV_CONF_STRING, "", .help = "Where links to logs that the node has no more lead: http://HOST:19888/jobhistory/logs of the JobHistoryServer." },
    [K_EXPIRY] = { "yarn.nm.liveness-monitor.expiry-interval-ms", SV_CONF_DURATION, "600000", .min = 1, .max = INT64_MAX, .plain_unit_ms = 1, .help = "The ResourceManager's: in a secure cluster it is told after 70 to 90 % of this, again and again, that an ended application's tokens are still needed to upload logs." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_logs_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int check_formats(struct sv_conf *c, struct sv_error *err)
{
    _cleanup_strv_ char **formats = NULL;
    bool tfile = false;
    int r = sv_conf_list(c, &keys[K_FORMATS], &formats, err);

    if (r < 0)
        return r;
    for (char **f = formats; f && *f; f++)
        tfile |= sv_streq(*f, "TFile");
    if (!tfile)
        return sv_error_set(err, -EOPNOTSUPP,
                            "%s: this version writes TFile alone; let the key name it",
                            keys[K_FORMATS].name);
    if (!sv_streq(formats[0], "TFile"))
        sv_log_warning("%s: %s is not written by this version, TFile is", keys[K_FORMATS].name,
                       formats[0]);
    return 0;
}

static int read_place(struct sv_conf *c, struct nm_conf_logs *l, struct sv_error *err)
{
    const char *own = NULL, *suffix = NULL;
    int n, r = sv_conf_string(c, &keys[K_TFILE_DIR], &own, err);

    if (r >= 0)
        r = sv_conf_string(c, &keys[K_DIR], &l->remote, err);
    if (own && *own)
        l->remote = own;
    own = NULL;
    if (r >= 0)
        r = sv_conf_string(c, &keys[K_TFILE_SUFFIX], &own, err);
    if (r >= 0)
        r = sv_conf_string(c, &keys[K_SUFFIX], &suffix, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_OLDER], &l->older_layout, err);
    if (r < 0)
        return r;
    if (l->older_layout)
        n = snprintf(l->suffix, sizeof(l->suffix), "%s", own && *own ? own : suffix);
    else
        n = own && *own ? snprintf(l->suffix, sizeof(l->suffix), "bucket-%s", own)
                        : snprintf(l->suffix, sizeof(l->suffix), "bucket-%s-tfile", suffix);
    if (n >= (int)sizeof(l->suffix) || strchr(l->suffix, '/') || sv_streq(l->suffix, ".") ||
        sv_streq(l->suffix, ".."))
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is no name of a directory",
                            keys[K_SUFFIX].name, l->suffix);
    return sv_conf_string(c, &keys[K_GROUP], &l->group, err);
}

static int read_compression(struct sv_conf *c, struct nm_conf_logs *l, struct sv_error *err)
{
    int r = sv_conf_string(c, &keys[K_COMPRESSION], &l->compression, err);

    if (r >= 0 && !sv_streq(l->compression, "none") && !sv_streq(l->compression, "gz"))
        return sv_error_set(err, -EINVAL, "%s: \"%s\" is not supported; none and gz are",
                            keys[K_COMPRESSION].name, l->compression);
    return r;
}

static int read_rolling(struct sv_conf *c, struct nm_conf_logs *l, struct sv_error *err)
{
    int64_t interval, min;
    bool debug;
    int r = sv_conf_int(c, &keys[K_ROLLING], &interval, err);

    if (r >= 0)
        r = sv_conf_int(c, &keys[K_ROLLING_MIN], &min, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_DEBUG], &debug, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_FILES], &l->files_max, err);
    if (r < 0)
        return r;
    if (l->files_max <= 0) /* as with Hadoop's NodeManager */
        l->files_max = 30;
    if (interval > 0 && interval < min && !debug) {
        sv_log_warning("%s=%lld is less than %s: %lld is used", keys[K_ROLLING].name,
                       (long long)interval, keys[K_ROLLING_MIN].name, (long long)min);
        interval = min;
    }
    l->roll_ms = interval > 0 ? interval * 1000 : 0;
    return 0;
}

/* An address to which requests are redirected. */
static int read_url(struct sv_conf *c, int key, const char *usual, const char **ret,
                    struct sv_error *err)
{
    const char *url;
    int r = sv_conf_string(c, &keys[key], &url, err);

    if (r < 0)
        return r;
    *ret = url;
    if (!*url)
        return 0;
    if (!sv_has_prefix(url, "http://") && !sv_has_prefix(url, "https://"))
        return sv_error_set(
            err, -EINVAL, "%s: \"%s\" is no http: or https: address; the JobHistoryServer's is %s",
            keys[key].name, url, usual);
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p == 0x7f)
            return sv_error_set(err, -EINVAL, "%s has a blank or a control character",
                                keys[key].name);
    return 0;
}

static int read_server(struct sv_conf *c, struct nm_conf_logs *l, struct sv_error *err)
{
    int r = read_url(c, K_SERVER, "http://HOST:19888/jobhistory/logs", &l->server, err);

    return r < 0 ? r : read_url(c, K_SERVICE, "http://HOST:19888/ws/v1/history", &l->service, err);
}

int nm_conf_logs_read(struct sv_conf *c, struct nm_conf_logs *ret, struct sv_error *err)
{
    struct nm_conf_logs l = { 0 };
    int r = sv_conf_bool(c, &keys[K_ENABLE], &l.aggregate, err);

    if (r >= 0 && l.aggregate)
        r = check_formats(c, err);
    if (r >= 0)
        r = read_place(c, &l, err);
    if (r >= 0)
        r = read_compression(c, &l, err);
    if (r >= 0)
        r = sv_conf_string(c, &keys[K_POLICY], &l.policy, err);
    if (r >= 0)
        r = sv_conf_string(c, &keys[K_PARAMETERS], &l.policy_parameters, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_THREADS], &l.uploads_max, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_CLEANUP], &l.delete_uploaded, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_RATE], &l.bytes_per_second, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_EXPIRY], &l.rm_expiry_ms, err);
    if (r >= 0)
        r = read_rolling(c, &l, err);
    if (r >= 0)
        r = read_server(c, &l, err);
    if (r < 0)
        return r;
    *ret = l;
    return 0;
}
