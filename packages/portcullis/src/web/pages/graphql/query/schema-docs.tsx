import type { IntrospectionQuery, IntrospectionType, IntrospectionTypeRef } from 'graphql'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'

interface SchemaDocsProps {
  readonly schema: IntrospectionQuery['__schema']
  /** The type to show; undefined for the list of all types. */
  readonly shown: string | undefined
  readonly onShow: (name: string | undefined) => void
}

/** The types of the API, with their fields, arguments and descriptions. */
export function SchemaDocs({ schema, shown, onShow }: SchemaDocsProps): JSX.Element {
  const type = schema.types.find(({ name }) => name === shown)
  if (type !== undefined) return <TypeDocs type={type} onShow={onShow} />
  return <TypeList schema={schema} onShow={onShow} />
}

function TypeList({ schema, onShow }: Omit<SchemaDocsProps, 'shown'>): JSX.Element {
  const [text, setText] = useState('')
  const { queryType, mutationType, subscriptionType, types } = schema
  const roots = [queryType, mutationType, subscriptionType].flatMap((root) => root?.name ?? [])
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    const others = types.filter(({ name }) => !name.startsWith('__'))
    const matches = others.filter((type) =>
      [type.name, ...toFields(type).map(({ name }) => name)].some((name) =>
        name.toLowerCase().includes(wanted),
      ),
    )
    const rank = ({ name }: IntrospectionType) => (roots.includes(name) ? 0 : 1)
    return matches.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
  }, [schema, text])
  return (
    <div class="stack tight">
      <Field label="Search types and fields">
        <input
          class="input"
          type="search"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <ul class="query-types">
        {found.map((type) => (
          <li key={type.name}>
            <TypeLink name={type.name} onShow={onShow} />{' '}
            <span class="muted small">{type.kind.toLowerCase().replace('_', ' ')}</span>
            {type.description && <p class="small">{type.description}</p>}
          </li>
        ))}
        {found.length === 0 && <li class="muted">No type or field matches.</li>}
      </ul>
    </div>
  )
}

interface TypeProps {
  readonly type: IntrospectionType
  readonly onShow: SchemaDocsProps['onShow']
}

function TypeDocs({ type, onShow }: TypeProps): JSX.Element {
  return (
    <div class="stack tight">
      <div class="row tight">
        <Button size="small" onClick={() => onShow(undefined)}>
          All types
        </Button>
        <h3 class="mono">{type.name}</h3>
      </div>
      {type.description && <p>{type.description}</p>}
      <ul class="query-types">
        {toFields(type).map((field) => (
          <li key={field.name}>
            <code>
              {field.name}
              {field.args.length > 0 && (
                <>
                  (
                  {field.args.map((arg, index) => (
                    <span key={arg.name} title={arg.description ?? undefined}>
                      {index > 0 && ', '}
                      {arg.name}: <TypeRefLink type={arg.type} onShow={onShow} />
                      {arg.defaultValue != null && ` = ${arg.defaultValue}`}
                    </span>
                  ))}
                  )
                </>
              )}
              {field.type !== undefined && (
                <>
                  : <TypeRefLink type={field.type} onShow={onShow} />
                </>
              )}
            </code>
            {field.description && <p class="small">{field.description}</p>}
            {field.deprecation && <p class="small muted">{`Deprecated: ${field.deprecation}`}</p>}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface TypeRefProps {
  readonly type: IntrospectionTypeRef
  readonly onShow: SchemaDocsProps['onShow']
}

/** `[User!]!`, with a link to the named type. */
function TypeRefLink({ type, onShow }: TypeRefProps): JSX.Element {
  if (type.kind === 'NON_NULL') {
    return (
      <>
        <TypeRefLink type={type.ofType} onShow={onShow} />!
      </>
    )
  }
  if (type.kind === 'LIST') {
    return (
      <>
        [<TypeRefLink type={type.ofType} onShow={onShow} />]
      </>
    )
  }
  return <TypeLink name={type.name} onShow={onShow} />
}

function TypeLink({
  name,
  onShow,
}: {
  readonly name: string
  readonly onShow: SchemaDocsProps['onShow']
}): JSX.Element {
  return (
    <button type="button" class="query-type-link mono" onClick={() => onShow(name)}>
      {name}
    </button>
  )
}

interface ShownField {
  readonly name: string
  readonly description: string | null | undefined
  readonly deprecation: string | null | undefined
  readonly args: readonly {
    readonly name: string
    readonly description?: string | null | undefined
    readonly defaultValue?: string | null | undefined
    readonly type: IntrospectionTypeRef
  }[]
  /** Undefined for enum values and the members of a union. */
  readonly type: IntrospectionTypeRef | undefined
}

/** The fields, input fields, enum values or members of a type. */
function toFields(type: IntrospectionType): readonly ShownField[] {
  switch (type.kind) {
    case 'OBJECT':
    case 'INTERFACE':
      return type.fields.map(({ name, description, deprecationReason, args, type: of }) => ({
        name,
        description,
        deprecation: deprecationReason,
        args,
        type: of,
      }))
    case 'INPUT_OBJECT':
      return type.inputFields.map(({ name, description, type: of }) => ({
        name,
        description,
        deprecation: undefined,
        args: [],
        type: of,
      }))
    case 'ENUM':
      return type.enumValues.map(({ name, description, deprecationReason }) => ({
        name,
        description,
        deprecation: deprecationReason,
        args: [],
        type: undefined,
      }))
    case 'UNION':
      return type.possibleTypes.map((member) => ({
        name: '|',
        description: undefined,
        deprecation: undefined,
        args: [],
        type: member,
      }))
    case 'SCALAR':
      return []
  }
}
