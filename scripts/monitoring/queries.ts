import type { Query } from './dashboard.ts'

/** Selects the series of the servers that are chosen at the top of the dashboard. */
export const selected = 'job="$job", instance=~"$instance"'

/** The rate of a counter, over a window that suits the time range of the dashboard. Default: the selected servers. */
export function rate(metric: string, labels: string = selected): string {
  return `rate(${metric}{${labels}}[$__rate_interval])`
}

/** The median, the 95th and the 99th percentile of a histogram. */
export function quantiles(metric: string, labels: string = selected): readonly Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => [
    `histogram_quantile(${quantile}, sum by (le) (${rate(`${metric}_bucket`, labels)}))`,
    `${quantile * 100} %`,
  ])
}
