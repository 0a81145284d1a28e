import {
  column,
  createdAt,
  hasInvalidSecret,
  type ImportTable,
  isWritten,
  recent,
  toStage,
  updatedAt,
} from './import-table.ts'

const table = 'sso_providers'

/** The source has one row of SAML for each provider. */
const ofSaml = (expression: string) =>
  `(select ${expression} from {supabase}.saml_providers m where m.sso_provider_id = x.id limit 1)`

const fromSaml = (name: string, type: string, expression = `m.${name}`) => ({
  ...column(name, type, ofSaml(expression)),
  own: `x.${name}`,
})

const stage = toStage({ name: table })

/** Providers of single sign-on keep their IDs, because the identities of their users contain them. */
export const ssoProviders: ImportTable = {
  name: table,
  label: 'SSO providers',
  isPresent: 'exists (select from {supabase}.saml_providers m where m.sso_provider_id = x.id)',
  columns: [
    column('resource_id', 'text', `nullif(x.resource_id, '')`),
    recent(table, 'disabled', 'boolean'),
    fromSaml('entity_id', 'text'),
    fromSaml('metadata_xml', 'text'),
    fromSaml('metadata_url', 'text', `nullif(m.metadata_url, '')`),
    // The metadata is read again from the URL if it is older than a day.
    fromSaml('metadata_read_at', 'timestamptz', `coalesce(m.updated_at, 'epoch')`),
    fromSaml('attribute_mapping', 'jsonb', `coalesce(nullif(m.attribute_mapping, 'null'), '{}')`),
    fromSaml('name_id_format', 'text', `nullif(m.name_id_format, '')`),
    createdAt,
    updatedAt,
    {
      ...column(
        'domains',
        'jsonb',
        `(select coalesce(jsonb_agg(lower(d.domain) order by lower(d.domain)), '[]')
         from {supabase}.sso_domains d where d.sso_provider_id = x.id)`,
      ),
      own: `(select coalesce(jsonb_agg(d.domain order by d.domain), '[]')
         from {ns}.sso_domains d where d.sso_provider_id = x.id)`,
      isStagedOnly: true,
    },
  ],
  // There are few providers, and removing a domain changes no time.
  isChangedSince: () => 'true',
  skipRules: [
    [hasInvalidSecret, 'invalid metadata'],
    [
      `exists (select from {ns}.sso_providers p where p.id <> s.id
         and (p.entity_id = s.entity_id or lower(p.resource_id) = lower(s.resource_id)))
       or exists (select from {ns}.sso_domains d
         where d.sso_provider_id <> s.id and s.domains ? d.domain)`,
      'provider taken',
    ],
  ],
  writeMore: [
    `delete from {ns}.sso_domains d using ${stage} s join pg_temp.import_outcomes o on o.id = s.id
     where d.sso_provider_id = s.id and ${isWritten}`,
    `insert into {ns}.sso_domains (domain, sso_provider_id, created_at)
     select d.domain, s.id, s.updated_at
     from ${stage} s join pg_temp.import_outcomes o on o.id = s.id
     cross join jsonb_array_elements_text(s.domains) as d(domain) where ${isWritten}`,
  ],
  companions: { sso_domains: 'sso_provider_id' },
}
