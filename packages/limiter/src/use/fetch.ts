export * from '@portcullis/ratelimit/use/fetch'
