import rulesSchema from '@portcullis/ratelimit/schema/rules.schema.json' with { type: 'json' }
import { createYamlLanguage } from '../../../components/editor/yaml/yaml-language.ts'

export const language = createYamlLanguage(rulesSchema)
