import type { Question } from './dashboard.ts'
import { quantiles, rate, selected } from './queries.ts'

export const database: Question = {
  title: 'Is PostgreSQL the cause?',
  panels: [
    {
      title: 'Statements by outcome',
      description: 'Statements that failed include those with a lost connection or a timeout.',
      unit: 'ops',
      queries: [
        [`sum by (outcome) (${rate('db_client_operation_duration_seconds_count')})`, '{{outcome}}'],
      ],
      alerts: ['AuthDatabaseFailing'],
    },
    {
      title: 'Slowest statements',
      description:
        '95 % of the executions of a statement take at most this time, including the wait for a connection.',
      unit: 's',
      limit: 0.5,
      queries: [
        [
          `topk(10, histogram_quantile(0.95, sum by (le, db_operation_name) (${rate('db_client_operation_duration_seconds_bucket')})))`,
          '{{db_operation_name}}',
        ],
      ],
      alerts: ['AuthDatabaseSlow'],
    },
    {
      title: 'Connections',
      description:
        'Connections to PostgreSQL of all selected processes. If those in use reach the maximum, statements wait.',
      unit: 'none',
      queries: [
        [`sum by (state) (db_client_connections{${selected}})`, '{{state}}'],
        [`sum(db_client_connection_max{${selected}})`, 'maximum'],
      ],
      alerts: ['AuthDatabasePoolExhausted'],
    },
    {
      title: 'Statements waiting for a connection',
      description:
        'If statements wait for minutes, there are too few connections, or statements are slow.',
      unit: 'none',
      limit: 1,
      queries: [
        [`sum by (instance) (db_client_connection_pending_requests{${selected}})`, '{{instance}}'],
      ],
      alerts: ['AuthDatabasePoolExhausted'],
    },
    {
      title: 'Wait for a connection',
      description: '50 %, 95 % and 99 % of the statements wait at most this time for a connection.',
      unit: 's',
      queries: quantiles('db_client_connection_wait_time_seconds'),
    },
    {
      title: 'Overdue cleanup',
      description: 'How long ago the oldest remaining row should have been deleted. Normally 0.',
      unit: 's',
      limit: 3_600,
      ifMissing: 'no round yet',
      queries: [[`max(auth_cleanup_lag_seconds{${selected}})`, 'lag']],
      alerts: ['AuthCleanupLagging'],
    },
  ],
}

export const messages: Question = {
  title: 'Are messages sent?',
  panels: [
    {
      title: 'Messages in the outbox',
      description:
        'Messages that wait, and messages that failed permanently in the last week. The server counts at most 10,001.',
      unit: 'none',
      queries: [[`max by (state) (auth_outbox_messages{${selected}})`, '{{state}}']],
      alerts: ['AuthMessagesGivenUp'],
    },
    {
      title: 'Overdue messages',
      description:
        'Overdue: for how long the oldest due message has waited for a process to send it; it grows if no process sends. Age: how old the oldest unsent message is; it also grows while the mail server is unavailable.',
      unit: 's',
      limit: 300,
      queries: [
        [`max(auth_outbox_overdue_seconds{${selected}})`, 'overdue'],
        [`max(auth_outbox_oldest_age_seconds{${selected}})`, 'age'],
      ],
      alerts: ['AuthOutboxStuck'],
    },
    {
      title: 'Failed attempts by channel',
      description:
        'The fraction of attempts that failed in the last 5 minutes. email: the mail server; sms: the gateway; hook: the receiver of AFTER_USER_CREATED.',
      unit: 'percentunit',
      limit: 0.25,
      ifMissing: 'none',
      queries: [
        [
          'job_channel:auth_message_errors:rate5m{job="$job"} / job_channel:auth_message_attempts:rate5m{job="$job"}',
          '{{channel}}',
        ],
      ],
      alerts: ['AuthMessagesFailing'],
    },
  ],
}

export const saturation: Question = {
  title: 'Is it saturated?',
  panels: [
    {
      title: 'Event loop utilization',
      description:
        'The fraction of time in which the event loop of a process is busy. Above 0.9, requests wait.',
      unit: 'percentunit',
      limit: 0.9,
      queries: [[`nodejs_eventloop_utilization_ratio{${selected}}`, '{{instance}}']],
      alerts: ['AuthEventLoopSaturated'],
    },
    {
      title: 'Event loop delay',
      description:
        '99 % of the timers of a process fire with at most this delay. Long delays without much load mean that a single request blocks the event loop.',
      unit: 's',
      queries: [[`nodejs_eventloop_delay_p99_seconds{${selected}}`, '{{instance}}']],
    },
    {
      title: 'CPU',
      description: 'Cores in use, including those that hash passwords.',
      unit: 'none',
      queries: [[`sum by (instance) (${rate('process_cpu_time_seconds_total')})`, '{{instance}}']],
    },
    {
      title: 'Passwords',
      description:
        'Passwords that are being hashed, and passwords that wait. When 200 wait on a machine, further ones are refused with 503.',
      unit: 'none',
      limit: 20,
      queries: [
        [`sum by (instance) (auth_hash_queue_waiting{${selected}})`, 'waiting {{instance}}'],
        [`sum by (instance) (auth_hash_queue_running{${selected}})`, 'running {{instance}}'],
      ],
      alerts: ['AuthHashQueueLong'],
    },
    {
      title: 'Memory',
      description:
        'Resident memory, the heap in use, and the heap size at which Node ends the process.',
      unit: 'bytes',
      queries: [
        [`process_memory_usage_bytes{${selected}}`, 'resident {{instance}}'],
        [`v8js_memory_heap_used_bytes{${selected}}`, 'heap {{instance}}'],
        [`v8js_memory_heap_limit_bytes{${selected}}`, 'heap limit {{instance}}'],
      ],
      alerts: ['AuthMemoryHigh'],
    },
    {
      title: 'Garbage collection',
      description:
        'The fraction of time that garbage collection takes. Above 0.1, the heap is too small, or there is a memory leak.',
      unit: 'percentunit',
      limit: 0.1,
      queries: [[`sum by (instance) (${rate('v8js_gc_duration_seconds_sum')})`, '{{instance}}']],
    },
  ],
}
