/* See rate.h. */
#include "common/rate.h"

/* Ends the current period if it is over. */
static void turn(struct sv_rate *r, int64_t now_ms)
{
    int64_t period = now_ms / SV_RATE_PERIOD_MS;

    if (period == r->period)
        return;
    r->last_n = period == r->period + 1 ? r->period_n : 0;
    if (r->period_n)
        r->average = r->period_sum / (double)r->period_n;
    r->period = period;
    r->period_n = 0;
    r->period_sum = 0;
}

void sv_rate_add(struct sv_rate *r, double value, int64_t now_ms)
{
    turn(r, now_ms);
    r->n++;
    r->period_n++;
    r->period_sum += value;
}

double sv_rate_average(const struct sv_rate *r, int64_t now_ms)
{
    struct sv_rate now = *r;

    turn(&now, now_ms);
    return now.n == now.period_n && now.n ? now.period_sum / (double)now.n : now.average;
}

double sv_rate_per_second(const struct sv_rate *r, int64_t now_ms)
{
    struct sv_rate now = *r;

    turn(&now, now_ms);
    return (double)now.last_n * 1000 / SV_RATE_PERIOD_MS;
}
