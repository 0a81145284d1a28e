import type { Extension } from '@codemirror/state'
import { ViewPlugin } from '@codemirror/view'
import { graphql, updateSchema } from 'cm6-graphql'
import { buildClientSchema, type IntrospectionQuery } from 'graphql'

export interface GraphqlLanguageOptions {
  /** Undefined if the API does not return its schema. */
  readonly schema: Promise<IntrospectionQuery | undefined>
  /** Called when a name is clicked while Ctrl is pressed. */
  readonly onShowType: (name: string) => void
}

/** GraphQL, with completion and validation once the schema is loaded. */
export function createGraphqlLanguage({ schema, onShowType }: GraphqlLanguageOptions): Extension {
  const addSchema = ViewPlugin.define((view) => {
    let isGone = false
    void schema.then((introspection) => {
      if (introspection === undefined || isGone) return
      // The types of cm6-graphql refer to the CommonJS types of CodeMirror, which are the same classes here.
      const same = view as unknown as Parameters<typeof updateSchema>[0]
      updateSchema(same, buildClientSchema(introspection))
    })
    return {
      destroy() {
        isGone = true
      },
    }
  })
  const onShowInDocs = (_field?: string, type?: string, parentType?: string) => {
    const name = (parentType ?? type)?.replaceAll(/[![\]]/g, '')
    if (name !== undefined) onShowType(name)
  }
  return [graphql(undefined, { onShowInDocs }), addSchema]
}
