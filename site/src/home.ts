/** The start page, in the form of the frontmatter that VitePress expects. */
export function createHome(findUrl: (source: string) => string): object {
  return {
    layout: 'home',
    hero: {
      name: 'Portcullis',
      text: 'The gate in front of your API',
      tagline:
        'GraphQL over HTTP, authentication and rate limits. Use one part or all three; one command starts them.',
      image: {
        src: '/files/docs/images/gate.svg',
        alt: 'Clients reach your API through three parts',
      },
      actions: [
        { theme: 'brand', text: 'Start in ten minutes', link: findUrl('docs/start.md') },
        { theme: 'alt', text: 'Go to production', link: findUrl('docs/production.md') },
        { theme: 'alt', text: 'Compare', link: findUrl('docs/comparison.md') },
      ],
    },
    features: [
      {
        title: 'GraphQL over HTTP',
        details:
          'A handler for every Node host, a client, and audits of any server. Drop-in replacement for graphql-http.',
        link: findUrl('docs/graphql.md'),
        linkText: 'Quick start',
      },
      {
        title: 'Auth',
        details:
          'Users, sessions and tokens on PostgreSQL: passwords, links, codes, passkeys, providers, second factors. Clients of Supabase Auth work unchanged.',
        link: findUrl('docs/auth.md'),
        linkText: 'Start the server',
      },
      {
        title: 'Rate limits',
        details:
          'Decisions for Envoy and for your own code, with rules in YAML and counters in memory, Redis or memcached. Drop-in replacement for envoyproxy/ratelimit.',
        link: findUrl('docs/ratelimit.md'),
        linkText: 'Start the service',
      },
      {
        title: 'Operate',
        details:
          'Images, a Helm chart, dashboards, alerts with runbooks, backups, upgrades without downtime, measured sizes.',
        link: findUrl('docs/production.md'),
        linkText: 'Go to production',
      },
    ],
  }
}
