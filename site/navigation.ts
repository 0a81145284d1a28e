// The order of the documentation site. Every Markdown file below docs/ is here once: as a whole, or
// split into several pages by its second-level headings. `npm test -- site` names what is missing.

import { decision, first, type Product, part, type Section, whole } from './src/page.ts'

const graphql: Product = {
  title: 'GraphQL over HTTP',
  path: 'graphql',
  groups: {
    'Get started': [
      first('docs/graphql.md', 'Quick start', 'Quick start'),
      part('docs/graphql.md', 'Hosts'),
    ],
    Guides: [
      part('docs/graphql.md', 'Errors'),
      part('docs/graphql.md', 'Authentication'),
      part('docs/graphql.md', 'Hooks', 'Hooks in order'),
      part('docs/graphql.md', 'Persisted documents'),
      part('docs/graphql.md', 'Client'),
      part('docs/graphql.md', 'Audits'),
    ],
    Reference: [
      part('docs/graphql.md', 'Options', 'Options of createHandler'),
      part(
        'docs/graphql.md',
        'Statuses, bodies and headers',
        'Statuses: two profiles',
        'Bodies and headers',
      ),
      whole('packages/graphql-over-http/api.md', 'Exports'),
    ],
    Migrate: [
      first('docs/graphql-migration.md', 'From graphql-http', 'From graphql-http'),
      part('docs/graphql-migration.md', 'From express-graphql'),
    ],
    Operate: [
      part('docs/graphql.md', 'Limits'),
      part('docs/graphql.md', 'Disconnected clients'),
      part(
        'docs/graphql.md',
        'Speed and size',
        'Document cache',
        'Compiling executor',
        'Speed',
        'Sizes',
      ),
    ],
    Design: [
      part('docs/architecture.md', 'Architecture', 'GraphQL over HTTP'),
      decision('005-document-cache', 'Cached documents'),
      decision('006-handler-size', 'Size of the handler'),
    ],
  },
}

const auth: Product = {
  title: 'Auth',
  path: 'auth',
  groups: {
    'Get started': [
      first('docs/auth.md', 'Start', 'Start'),
      whole('examples/auth/README.md', 'Examples'),
    ],
    Guides: [
      part('docs/auth.md', 'Sign-in flows'),
      part('docs/auth.md', 'Tokens and keys'),
      part('docs/auth.md', 'Sessions and refresh'),
      part('docs/auth.md', 'Email'),
      whole('docs/auth-keys.md', 'Keys and revocation'),
      part('docs/auth.md', 'Redirects'),
      part('docs/auth.md', 'Rate limits'),
      first('docs/auth-sign-in.md', 'More ways to sign in'),
      part('docs/auth-sign-in.md', 'Providers', 'Sign in with a provider', 'The providers'),
      part('docs/auth-sign-in.md', 'Custom providers'),
      part('docs/auth-sign-in.md', 'Phone numbers', 'Phone numbers and text messages'),
      part('docs/auth-sign-in.md', 'Second factors'),
      part('docs/auth-sign-in.md', 'Passkeys'),
      part('docs/auth-sign-in.md', 'Web3 wallets'),
      part('docs/auth-sign-in.md', 'CAPTCHA'),
      part(
        'docs/auth-sign-in.md',
        'Passwords',
        'Passwords: stored, imported, leaked',
        'Authorized addresses',
      ),
      whole('docs/auth-oauth-server.md', 'OAuth server'),
      whole('docs/auth-sso.md', 'Single sign-on'),
      part('docs/auth-operations.md', 'Hooks'),
      part('docs/auth.md', 'Administration'),
    ],
    Reference: [
      { title: 'HTTP API', generated: 'auth-api' },
      whole('docs/auth-api.md', 'Endpoints and errors'),
      whole('docs/auth-environment.md', 'Variables'),
      part('docs/auth.md', 'Versions and scope', 'Versions', 'Not supported'),
      whole('packages/auth/api.md', 'Exports'),
    ],
    Migrate: [
      part('docs/auth.md', 'Coming from Supabase Auth'),
      whole('docs/auth-migration.md', 'Move the data'),
      whole('docs/auth-migration-behaviours.md', 'Move the behaviour'),
    ],
    Operate: [
      first('docs/auth-operations.md', 'Overview'),
      part(
        'docs/auth-operations.md',
        'Proxy and TLS',
        'Behind a proxy with TLS',
        'Methods',
        'Slow requests and slow clients',
      ),
      part(
        'docs/auth-operations.md',
        'Processes and reload',
        'Several processes',
        'Reload the configuration',
      ),
      part(
        'docs/auth-operations.md',
        'PostgreSQL',
        'Connections to PostgreSQL',
        'Roles of the database',
      ),
      part('docs/auth-operations.md', 'Shared limits', 'Limits that machines share'),
      part(
        'docs/auth-operations.md',
        'Health and logs',
        'Health and readiness',
        'Logs',
        'Audit log',
      ),
      part('docs/auth-operations.md', 'Metrics and traces', 'Metrics', 'Traces', 'Profiles'),
      part('docs/auth-operations.md', 'Keys'),
      part('docs/auth-operations.md', 'Backups'),
      part('docs/auth-operations.md', 'Upgrades and migrations', 'Upgrades', 'Migrations'),
      part('docs/auth-operations.md', 'Messages and cleanup', 'Messages', 'Cleanup'),
      part('docs/auth-operations.md', 'Security', 'What is safe by default', 'Hostile clients'),
      part(
        'docs/auth-operations.md',
        'Failures',
        'When PostgreSQL is unavailable',
        'When the server is killed',
        'When other services are unavailable',
        'Clocks',
      ),
      part('docs/auth-operations.md', 'Speed and sizing'),
    ],
    Design: [
      part('docs/architecture.md', 'Architecture', 'Authentication'),
      decision('013-statements-per-request', 'Statements per request'),
      decision('014-schemas-of-requests', 'Schemas of requests'),
      decision('017-linking-needs-proof', 'Linking needs proof'),
      decision('018-audit-log-at-scale', 'Audit log at scale'),
      decision('019-user-ids-without-a-name', 'User ids without a name'),
      decision('020-migrations-under-a-lease', 'Migrations under a lease'),
      decision('021-connections-and-poolers', 'Connections and poolers'),
      decision('025-access-tokens', 'Access tokens'),
      decision('027-reload-by-replacement', 'Reload by replacement'),
      decision('028-shared-round-trips', 'Shared round trips'),
      decision('030-shared-refreshes', 'Shared refreshes'),
      decision('033-saml-signatures', 'Signatures of SAML responses'),
    ],
  },
}

const ratelimit: Product = {
  title: 'Rate limits',
  path: 'ratelimit',
  groups: {
    'Get started': [
      first('docs/ratelimit.md', 'Start', 'Start'),
      part('docs/ratelimit.md', 'Rules by example'),
      first('docs/ratelimit-library.md', 'In your own server', 'Limits'),
    ],
    Guides: [
      part('docs/ratelimit.md', 'Sliding windows', 'Sliding windows', 'Hits'),
      part('docs/ratelimit.md', 'Policy tests'),
      part('docs/ratelimit.md', 'Replay', "Replay: try rules on yesterday's traffic"),
      part('docs/ratelimit.md', 'Envoy', 'Envoy', 'Rules from a management server (xDS)'),
      whole('examples/envoy/README.md', 'Envoy example'),
      part('docs/ratelimit.md', 'Limiter and tools', 'Inside your own server'),
      part('docs/ratelimit-library.md', 'Decisions'),
      part('docs/ratelimit-library.md', 'Middleware'),
      part('docs/ratelimit-library.md', 'Recipes'),
      part('docs/ratelimit-library.md', 'Typical mistakes'),
    ],
    Reference: [
      { title: 'Keys of a rule', generated: 'rule-keys' },
      whole('docs/ratelimit-environment.md', 'Variables'),
      part('docs/ratelimit-library.md', 'Options of the limiter', 'Options'),
      whole('packages/ratelimit/api.md', 'Exports'),
    ],
    Migrate: [
      part(
        'docs/ratelimit.md',
        'From envoyproxy/ratelimit',
        'Differences from envoyproxy/ratelimit',
      ),
    ],
    Operate: [
      part('docs/ratelimit.md', 'Counters'),
      part('docs/ratelimit.md', 'TLS', 'TLS for callers'),
      part('docs/ratelimit.md', 'Operations'),
      part('docs/ratelimit.md', 'Statistics and tracing', 'Statistics', 'Tracing'),
      part('docs/ratelimit.md', 'Attacks and limits', 'Attacks', 'Limits of the gRPC listener'),
      part('docs/ratelimit.md', 'Faults'),
      part('docs/ratelimit.md', 'Speed'),
    ],
    Design: [
      part('docs/architecture.md', 'Architecture', 'Rate limits'),
      decision('007-redis-counters', 'Redis counters'),
      decision('008-grpc-unary', 'HTTP/2 for gRPC'),
      decision('009-decision-hot-path', 'Cached requests'),
      decision('010-memcached', 'memcached counters'),
      decision('011-scripts-for-sliding-windows', 'Scripts for sliding windows'),
      decision('012-workers', 'Workers'),
      decision('022-a-package-for-the-limiter', 'A package for the limiter'),
      decision('023-yaml-block-reader', 'Reader for rule files'),
      decision('024-protobuf', 'Protobuf'),
      decision('031-top-keys', 'Top keys'),
    ],
  },
}

const together: Section = {
  title: 'Together',
  path: 'together',
  groups: {
    'Get started': [whole('docs/start.md', 'Tutorial'), whole('docs/README.md', 'All topics')],
    Guides: [
      whole('docs/portcullis.md', 'portcullis and the console'),
      whole('examples/together/README.md', 'Example of all three parts'),
      whole('examples/README.md', 'All examples'),
    ],
    Recipes: [
      whole('docs/recipes/README.md', 'Recipes'),
      whole('docs/recipes/nextjs.md', 'Next.js'),
      whole('docs/recipes/react-spa.md', 'React'),
      whole('docs/recipes/deep-links.md', 'Mobile deep links'),
      whole('docs/recipes/verify-tokens.md', 'Verify tokens'),
      whole('docs/recipes/envoy.md', 'Envoy'),
      whole('docs/recipes/plans.md', 'Plans and tenants'),
      whole('docs/recipes/graphql.md', 'GraphQL'),
    ],
    Reference: [whole('docs/glossary.md', 'Glossary')],
    Design: [
      first('docs/architecture.md', 'Architecture', 'portcullis'),
      part('docs/architecture.md', 'Where to start reading'),
      whole('docs/comparison.md', 'Comparison'),
      whole('docs/decisions/README.md', 'Decisions'),
      decision('001-runtime-pin', 'Pinned runtime'),
      decision('002-test-runner', 'Test runner'),
      decision('003-linter', 'Linter'),
      decision('004-no-build-for-development', 'No build'),
      decision('015-what-is-published', 'What is published'),
      decision('016-mutation-tests', 'Mutation tests'),
      decision('026-one-metrics-core', 'One metrics core'),
      decision('029-documentation-site', 'This site'),
      decision('032-code-editors', 'Code editors of the console'),
      decision('034-speed-of-the-new-structure', 'Speed of the new structure'),
    ],
    Contribute: [
      whole('CONTRIBUTING.md', 'Contributing'),
      whole('docs/mutation-score.md', 'Mutation score'),
    ],
  },
}

const operate: Section = {
  title: 'Operate',
  path: 'operate',
  groups: {
    'Get started': [whole('docs/production.md', 'Go to production')],
    Deploy: [
      whole('deploy/README.md', 'Ways to deploy'),
      whole('examples/compose/README.md', 'Containers'),
      whole('examples/systemd/README.md', 'systemd'),
      whole('deploy/images/README.md', 'Images'),
      whole('deploy/helm/portcullis/README.md', 'Helm chart'),
      whole('deploy/gateway/README.md', 'Gateways'),
    ],
    Monitor: [
      whole('docs/monitoring.md', 'Monitoring'),
      whole('docs/runbooks/auth.md', 'Runbooks of auth'),
      whole('docs/runbooks/ratelimit.md', 'Runbooks of rate limits'),
    ],
    Releases: [
      whole('docs/releases.md', 'Releases'),
      whole('CHANGELOG.md', 'Changelog'),
      whole('SECURITY.md', 'Security policy'),
      whole('docs/licences.md', 'Licences'),
    ],
  },
}

export const navigation: readonly Section[] = [together, graphql, auth, ratelimit, operate]
