package schedule

// Names of the gates.
const (
	preflightGate   = "schedule_preflight"
	selectionGate   = "schedule_selection"
	qualityGate     = "schedule_quality"
	certificateGate = "schedule_certificate"
	varietyGate     = "schedule_variety"
	criticGate      = "schedule_critic"
	anomalyGate     = "schedule_anomaly"
)

var gateNames = []string{preflightGate, selectionGate, qualityGate, certificateGate, varietyGate, criticGate, anomalyGate}

// Names of the rules in the policy file.
const (
	creatorUnknown   = "creator_unknown"
	creatorInactive  = "creator_inactive"
	vaultEmpty       = "vault_empty"
	captionsFew      = "captions_few"
	personaMissing   = "persona_missing"
	analyticsMissing = "analytics_missing"

	diversity    = "diversity"
	typeShare    = "type_share"
	contentShare = "content_share"
	varietyLow   = "variety_low"
	varietyHard  = "variety_hard"

	vaultRule = "vault"
	avoidRule = "avoid"

	creatorRefused     = "creator_refused"
	inputRule          = "input"
	sendTypeRule       = "send_type"
	diversityHard      = "diversity_hard"
	proofMissing       = "proof_missing"
	proofInvalid       = "proof_invalid"
	proofMismatch      = "proof_mismatch"
	pageTypeRule       = "page_type"
	revenueTypes       = "revenue_types"
	engagementTypes    = "engagement_types"
	retentionTypes     = "retention_types"
	strategyMissing    = "strategy_missing"
	strategiesFew      = "strategies_few"
	outsideWeek        = "outside_week"
	scoreLow           = "score_low"
	scoreReview        = "score_review"
	freshnessRule      = "freshness"
	performanceRule    = "performance"
	confidenceModerate = "confidence_moderate"
	confidenceLow      = "confidence_low"
	confidenceVeryLow  = "confidence_very_low"
	confidenceUnknown  = "confidence_unknown"
	pageTypeClaim      = "page_type_claim"
	unsignedRule       = "unsigned"

	aggressiveness = "aggressiveness"
	healthRule     = "health"
	brandRule      = "brand"
	concernsRule   = "concerns"
	strategicRule  = "strategic"
	criticBlock    = "critic_block"
	criticRevise   = "critic_revise"
	reviewRule     = "review"

	priceRule        = "price"
	volumeRule       = "volume"
	contentUnknown   = "content_unknown"
	clusteringRule   = "clustering"
	revenueDay       = "revenue_day"
	freshnessAverage = "freshness_average"
	untestedRule     = "untested"
	underusedRule    = "underused"
	peakUnused       = "peak_unused"

	certificateFormat    = "certificate_format"
	certificateWeek      = "certificate_week"
	certificatePage      = "certificate_page"
	certificateInactive  = "certificate_inactive"
	certificateDatabase  = "certificate_database"
	certificatePolicy    = "certificate_policy"
	certificateEvidence  = "certificate_evidence"
	certificateMissing   = "certificate_missing"
	certificateStale     = "certificate_stale"
	certificateTime      = "certificate_time"
	certificateStatus    = "certificate_status"
	certificateCreator   = "certificate_creator"
	certificateCount     = "certificate_count"
	certificateVault     = "certificate_vault"
	certificateAvoid     = "certificate_avoid"
	certificateHash      = "certificate_hash"
	certificateSignature = "certificate_signature"
)

var ruleNames = []string{
	creatorUnknown, creatorInactive, vaultEmpty, captionsFew, personaMissing, analyticsMissing,
	diversity, typeShare, contentShare, varietyLow, varietyHard, vaultRule, avoidRule,
	creatorRefused, inputRule, sendTypeRule, diversityHard, proofMissing, proofInvalid, proofMismatch, pageTypeRule,
	revenueTypes, engagementTypes, retentionTypes, strategyMissing, strategiesFew, outsideWeek, scoreLow, scoreReview,
	freshnessRule, performanceRule, confidenceModerate, confidenceLow, confidenceVeryLow, confidenceUnknown, pageTypeClaim, unsignedRule,
	aggressiveness, healthRule, brandRule, concernsRule, strategicRule, criticBlock, criticRevise, reviewRule,
	priceRule, volumeRule, contentUnknown, clusteringRule, revenueDay, freshnessAverage, untestedRule, underusedRule, peakUnused,
	certificateMissing, certificateFormat, certificateStale, certificateTime, certificateStatus, certificateCreator, certificateCount,
	certificateVault, certificateAvoid, certificateHash, certificateWeek, certificatePage, certificateInactive, certificateDatabase, certificatePolicy,
	certificateEvidence, certificateSignature,
}
