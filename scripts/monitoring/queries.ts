import type { Query } from './dashboard.ts'

/** The labels of the selected servers. */
export const selected = 'job="$job", instance=~"$instance"'

/** The rate of a counter of the selected servers, over a window that suits the time range of the dashboard. */
export function rate(metric: string, labels: string = selected): string {
  return `rate(${metric}{${labels}}[$__rate_interval])`
}

/** The values below which half, 95 % and 99 % of the observations of a histogram are. */
export function quantiles(metric: string, labels: string = selected): readonly Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => [
    `histogram_quantile(${quantile}, sum by (le) (${rate(`${metric}_bucket`, labels)}))`,
    `${quantile * 100} %`,
  ])
}
