// What the lists do not refuse yet. Each entry goes when the code that it names is changed.

const auth = 'packages/auth/src'
const ratelimit = 'packages/ratelimit/src'

/** Modules that import each other; fewer of them may. */
export const knownCircles: readonly (readonly string[])[] = [
  [`${auth}/config/sms-gateways.ts`, `${auth}/config/sms.ts`],
  [
    `${auth}/core/access-tokens.ts`,
    `${auth}/core/factors/factor-kind.ts`,
    `${auth}/core/factors/index.ts`,
    `${auth}/core/factors/member.ts`,
    `${auth}/core/factors/phone.ts`,
    `${auth}/core/factors/totp.ts`,
    `${auth}/core/factors/webauthn.ts`,
    `${auth}/core/password-attempts.ts`,
    `${auth}/core/phone-codes.ts`,
    `${auth}/core/phone-gateway.ts`,
    `${auth}/core/services.ts`,
    `${auth}/core/sessions.ts`,
  ],
  [
    `${auth}/telemetry/metrics.ts`,
    `${auth}/telemetry/pull-listener.ts`,
    `${auth}/telemetry/push-reader.ts`,
  ],
  [`${ratelimit}/rules/rule-table.ts`, `${ratelimit}/rules/statistics-key.ts`],
  [
    `${ratelimit}/counters/memcached/connection.ts`,
    `${ratelimit}/counters/memcached/link.ts`,
    `${ratelimit}/counters/memcached/operation-queue.ts`,
    `${ratelimit}/counters/memcached/operation.ts`,
  ],
  [
    `${ratelimit}/middleware/shared/header-styles.ts`,
    `${ratelimit}/middleware/shared/limited-answer.ts`,
    `${ratelimit}/middleware/shared/options.ts`,
  ],
  [
    'packages/portcullis/src/console/overview/sign-in-failures.ts',
    'packages/portcullis/src/console/routes/users-audit.ts',
  ],
  [
    'packages/portcullis/src/console/routes/users.ts',
    'packages/portcullis/src/console/routes/session.ts',
    'packages/portcullis/src/console/routes/pass-through.ts',
    'packages/portcullis/src/console/routes/overview.ts',
    'packages/portcullis/src/console/routes/mailbox.ts',
    'packages/portcullis/src/console/routes/limits.ts',
    'packages/portcullis/src/console/routes/audits.ts',
    'packages/portcullis/src/console/routes/index.ts',
    'packages/portcullis/src/console/console.ts',
  ],
  [
    'packages/portcullis/src/web/pages/try/sign-in/sign-up-form.tsx',
    'packages/portcullis/src/web/pages/try/sign-in/phone-form.tsx',
    'packages/portcullis/src/web/pages/try/sign-in/password-form.tsx',
    'packages/portcullis/src/web/pages/try/sign-in/sign-in-card.tsx',
    'packages/portcullis/src/web/pages/try/sign-in/magic-link-form.tsx',
  ],
  [
    'packages/portcullis/src/web/pages/try/signed-in/token-card.tsx',
    'packages/portcullis/src/web/pages/try/signed-in/password-card.tsx',
    'packages/portcullis/src/web/pages/try/signed-in/signed-in.tsx',
    'packages/portcullis/src/web/pages/try/signed-in/second-factor-card.tsx',
    'packages/portcullis/src/web/pages/try/signed-in/enrolment-steps.tsx',
  ],
  [
    'packages/portcullis/src/web/pages/users/dialogs/password-dialog.tsx',
    'packages/portcullis/src/web/pages/users/dialogs/link-dialog.tsx',
    'packages/portcullis/src/web/pages/users/dialogs/edit-dialog.tsx',
    'packages/portcullis/src/web/pages/users/dialogs/delete-dialog.tsx',
    'packages/portcullis/src/web/pages/users/dialogs/ban-dialog.tsx',
    'packages/portcullis/src/web/pages/users/panel/user-actions.tsx',
  ],
  [
    'packages/portcullis/src/web/pages/users/panel/sign-in-tab.tsx',
    'packages/portcullis/src/web/pages/users/panel/sessions-tab.tsx',
    'packages/portcullis/src/web/pages/users/panel/metadata-editor.tsx',
    'packages/portcullis/src/web/pages/users/panel/profile-tab.tsx',
    'packages/portcullis/src/web/pages/users/panel/tabs.ts',
    'packages/portcullis/src/web/pages/users/panel/activity-tab.tsx',
  ],
]

export const knownEnvironmentWriters: readonly string[] = [
  `${auth}/telemetry/sdk.ts`,
  'packages/portcullis/src/commands/hand-over.ts',
]
