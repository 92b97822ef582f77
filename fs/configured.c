/* See configured.h. */
#include "fs/configured.h"

#include "common/web/curl.h"
#include "hdfs/conf.h"

int fs_open_configured(struct sv_conf *c, const struct fs_options *o, struct fs **ret,
                       struct sv_error *err)
{
    struct fs_options all = *o;
    struct hdfs_site site;
    int r = 0;

    if (o->url->scheme == FS_SCHEME_HDFS) {
        r = hdfs_conf_load(c, err);
        if (r == 0)
            r = hdfs_conf_site(c, o->url->host, o->url->port, &site, err);
        all.site = &site;
        all.load_curl = sv_curl_load;
    } else if (o->url->scheme != FS_SCHEME_FILE) {
        r = sv_curl_load(&all.curl, err);
    }
    return r < 0 ? r : fs_open(&all, ret, err);
}
