import type { Panel, Question } from './dashboard.ts'

interface Objectives {
  /** The beginning of the names of the alerts: `Auth` or `Ratelimit`. */
  readonly alertPrefix: string
  /** The names of recorded series without `job:` and the window, such as `auth_http_requests`. */
  readonly total: string
  readonly errors: string
  readonly slow: string
  readonly errorBudget: number
  readonly slowBudget: number
  /** The time after which a request is slow, as text: `a second`. */
  readonly slowLimit: string
  /** The name of the requests: `requests` or `calls`. */
  readonly noun: string
}

/** The first row of each dashboard shows how well the objectives are met. It needs the recording rules. */
export function toOverview(objectives: Objectives, quantile: Panel): Question {
  const { alertPrefix, total, errors, slow, errorBudget, slowBudget, noun } = objectives
  const burn = (kind: string) =>
    ['', 'Slow'].map((speed) => `${alertPrefix}${kind}BudgetBurn${speed}`)
  const budgetLeft = (bad: string, budget: number): Panel['queries'] => [
    [`1 - job:${bad}:ratio_rate30d{job="$job"} / ${budget}`, ''],
  ]
  const budget = { kind: 'stat', unit: 'percentunit', limit: 0.1, isBadBelow: true } as const
  return {
    title: 'Is it up, and does it meet its objectives?',
    panels: [
      {
        title: 'Servers that can be scraped',
        description:
          'The number of processes whose metrics Prometheus can read now. Compare it with the number that you run.',
        ...{ kind: 'stat', unit: 'none', limit: 1, isBadBelow: true },
        queries: [['sum(up{job="$job"})', '']],
        alerts: ['Unavailable', 'InstanceDown', 'Restarting'].map((name) => alertPrefix + name),
      },
      {
        title: 'Firing alerts',
        description:
          'Alerts of this server that are firing now. The red marks in the graphs show earlier ones.',
        ...{ kind: 'stat', unit: 'none', limit: 1, ifMissing: 'none' },
        queries: [
          [
            `count by (alertname) (ALERTS{alertname=~"${alertPrefix}.+", alertstate="firing"})`,
            '{{alertname}}',
          ],
        ],
      },
      {
        title: `Failed ${noun}`,
        description: `The fraction of ${noun} that failed in the last 5 minutes. It is red if this would use up the budget of 30 days in 2 days.`,
        ...{ kind: 'stat', unit: 'percentunit', limit: 14.4 * errorBudget },
        queries: [[`job:${errors}:ratio_rate5m{job="$job"}`, '']],
        alerts: burn('Error'),
      },
      {
        title: `Slow ${noun}`,
        description: `The fraction of ${noun} that took longer than ${objectives.slowLimit} in the last 5 minutes. It is red if this would use up the budget of 30 days in 2 days.`,
        ...{ kind: 'stat', unit: 'percentunit', limit: 14.4 * slowBudget },
        queries: [[`job:${slow}:ratio_rate5m{job="$job"}`, '']],
        alerts: burn('Latency'),
      },
      {
        title: 'Error budget left',
        description: `The part of the error budget of the last 30 days that is not used up. Below 0 the objective was missed.`,
        ...budget,
        queries: budgetLeft(errors, errorBudget),
      },
      {
        title: 'Latency budget left',
        description: `The part of the latency budget of the last 30 days that is not used up. Below 0 the objective was missed.`,
        ...budget,
        queries: budgetLeft(slow, slowBudget),
      },
      {
        title: `${noun.charAt(0).toUpperCase()}${noun.slice(1)} per second`,
        description: `All ${noun}, including failed ones, averaged over 5 minutes.`,
        unit: 'reqps',
        queries: [[`job:${total}:rate5m{job="$job"}`, noun]],
      },
      quantile,
      {
        title: 'Burn rates',
        description:
          'How many times faster than allowed the budgets are used up. At 1 they last exactly 30 days. Above 14.4 over an hour, or 6 over 6 hours, an alert pages.',
        ...{ unit: 'none', limit: 14.4 },
        queries: [
          [`job:${errors}:ratio_rate1h{job="$job"} / ${errorBudget}`, 'errors, 1 hour'],
          [`job:${errors}:ratio_rate6h{job="$job"} / ${errorBudget}`, 'errors, 6 hours'],
          [`job:${slow}:ratio_rate1h{job="$job"} / ${slowBudget}`, 'latency, 1 hour'],
          [`job:${slow}:ratio_rate6h{job="$job"} / ${slowBudget}`, 'latency, 6 hours'],
        ],
      },
    ],
  }
}
