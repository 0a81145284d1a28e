import testsSchema from '@portcullis/ratelimit/schema/policy-tests.schema.json' with {
  type: 'json',
}
import { createYamlLanguage } from '../../../components/editor/yaml/yaml-language.ts'

export const language = createYamlLanguage(testsSchema)
