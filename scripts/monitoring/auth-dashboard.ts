import { database, messages, saturation } from './auth-causes.ts'
import type { DashboardContent, Panel, Question } from './dashboard.ts'
import { toOverview } from './overview.ts'
import { quantiles, rate, selected } from './queries.ts'

/** Excludes probes, as the objectives do. */
const calls = `${selected}, http_route!~"/health|/ready"`

const latency: Panel = {
  title: 'Time to answer requests',
  description:
    '50 %, 95 % and 99 % of the requests are answered within this time. The 99 % line should be below a second.',
  unit: 's',
  limit: 1,
  queries: quantiles('http_server_request_duration_seconds', calls),
  alerts: ['AuthLatencyBudgetBurn', 'AuthLatencyBudgetBurnSlow'],
}

const speed: Question = {
  title: 'Which requests are slow?',
  panels: [
    {
      title: 'Slowest routes',
      description:
        '95 % of the requests to a route are answered within this time. Routes that hash passwords need about 0.1 s.',
      unit: 's',
      limit: 1,
      queries: [
        [
          `topk(10, histogram_quantile(0.95, sum by (le, http_route) (${rate('http_server_request_duration_seconds_bucket', calls)})))`,
          '{{http_route}}',
        ],
      ],
    },
    {
      title: 'Busiest routes',
      description: 'Requests per second to the ten busiest routes.',
      unit: 'reqps',
      isStacked: true,
      queries: [
        [
          `topk(10, sum by (http_route) (${rate('http_status_codes_total', calls)}))`,
          '{{http_route}}',
        ],
      ],
    },
    {
      title: 'Requests in progress',
      description:
        'If this grows while the number of requests per second does not, requests wait for something slow.',
      unit: 'none',
      queries: [[`sum by (instance) (http_server_active_requests{${selected}})`, '{{instance}}']],
    },
  ],
}

const failures: Question = {
  title: 'What fails, and why?',
  panels: [
    {
      title: 'Failed requests by route',
      description:
        'Responses with a status of 5xx. 500: a defect or a failing hook. 503: an unavailable database, or too many passwords to check. 504: a request that took too long.',
      unit: 'reqps',
      isStacked: true,
      ifMissing: 'none',
      queries: [
        [
          `sum by (code, http_route) (${rate('http_status_codes_total', `${calls}, code=~"5.."`)})`,
          '{{code}} {{http_route}}',
        ],
      ],
      alerts: ['AuthErrorBudgetBurn', 'AuthErrorBudgetBurnSlow'],
    },
    {
      title: 'Refused requests by route',
      description:
        'Responses with a status of 4xx, except 429. A sudden increase is often a client with a defect. 499: the client closed the connection.',
      unit: 'reqps',
      ifMissing: 'none',
      queries: [
        [
          `topk(10, sum by (code, http_route) (${rate('http_status_codes_total', `${calls}, code=~"4..", code!="429"`)}))`,
          '{{code}} {{http_route}}',
        ],
      ],
    },
    {
      title: 'Sign-ins by outcome',
      description:
        'Successful sign-ins, and failed ones by reason. Many wrong passwords without more successful sign-ins suggest an attack.',
      unit: 'reqps',
      isStacked: true,
      ifMissing: 'none',
      queries: [[`sum by (outcome) (${rate('auth_sign_ins_total')})`, '{{outcome}}']],
      alerts: ['AuthSignInFailuresHigh'],
    },
  ],
}

const limits: Question = {
  title: 'What is limited?',
  panels: [
    {
      title: 'Requests over a limit',
      description:
        'Responses with status 429 by route: limits per client address, per account and of messages.',
      unit: 'reqps',
      isStacked: true,
      ifMissing: 'none',
      queries: [
        [
          `sum by (http_route) (${rate('http_status_codes_total', `${calls}, code="429"`)})`,
          '{{http_route}}',
        ],
      ],
    },
    {
      title: 'Requests over the email limit',
      description:
        'Requests that AUTH_RATE_LIMIT_EMAIL_SENT refuses. Those users do not get their messages.',
      unit: 'reqps',
      limit: 0.05,
      ifMissing: 'none',
      queries: [[`sum(${rate('email_rate_limit_total')})`, 'refused']],
      alerts: ['AuthEmailLimited'],
    },
    {
      title: 'Sign-ins over a limit',
      description:
        'Sign-ins that were refused because of too many attempts from an address or on an account.',
      unit: 'reqps',
      ifMissing: 'none',
      queries: [
        [`sum(${rate('auth_sign_ins_total', `${selected}, outcome="limited"`)})`, 'refused'],
      ],
    },
  ],
}

export const authDashboard: DashboardContent = {
  server: 'auth',
  title: 'Portcullis: auth server',
  description:
    'Each row answers a question. Start at the top, and follow the links of a panel to its runbook.',
  ownMetric: 'auth_running',
  alertPrefix: 'Auth',
  questions: [
    toOverview(
      {
        alertPrefix: 'Auth',
        ...{ total: 'auth_http_requests', errors: 'auth_http_errors', slow: 'auth_http_slow' },
        ...{ errorBudget: 0.001, slowBudget: 0.01, slowLimit: 'a second', noun: 'requests' },
      },
      latency,
    ),
    ...[speed, failures, limits, database, messages, saturation],
  ],
}
