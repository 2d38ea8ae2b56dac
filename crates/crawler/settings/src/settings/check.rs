//! Refuses impossible values, and names the possible ones.

use std::fmt::Display;

use journal::DiscoveredUrl;
use messages::{CommandError, fault, usage};
use neardup::tables::MAX_DISTANCE;
use policy::OffTopic;
use policy::values::{check_concurrency, check_factor};
use web::MainSelectors;

use super::{Settings, archive};

impl Settings {
    /// Checks that all values are possible together.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        // A crawl stores its settings as text, so paths must be UTF-8.
        toml::Table::try_from(self).map_err(|error| fault(&error))?;
        self.check_scope()?;
        self.check_resemblance()?;
        self.check_topic()?;
        self.check_rendering()?;
        self.check_comparison()?;
        self.check_pacing()?;
        self.check_parts()?;
        archive::check(self)?;
        self.check_requests()
    }

    fn check_resemblance(&self) -> Result<(), CommandError> {
        let resemblance = self.resemblance.unwrap_or_default();
        if !(0.0..=1.0).contains(&resemblance) {
            let range = "must be between 0 and 1; if omitted, it depends on the length of the \
                texts";
            return refuse("resemblance", &resemblance, range);
        }
        Ok(())
    }

    /// Checks the distance, and options that exclude each other.
    fn check_comparison(&self) -> Result<(), CommandError> {
        if self.distance > MAX_DISTANCE {
            let range = format!("must be between 0 and {MAX_DISTANCE} bits; the default is 3");
            return refuse("distance", &self.distance, &range);
        }
        if let (Some(resemblance), false) = (&self.resemblance, self.verify.is_on()) {
            let range = "with --verify off, fingerprints decide alone: omit one of the two options";
            return refuse("resemblance", resemblance, range);
        }
        if let (Some(from), Some(to)) = (&self.sitemap_from, &self.sitemap_to)
            && from.lastmod.first > to.lastmod.last
        {
            let range = format!("it must not be before --sitemap-from {from}");
            return refuse("sitemap-to", to, &range);
        }
        Ok(())
    }

    /// Checks the pace, and numbers of hosts and pages.
    fn check_pacing(&self) -> Result<(), CommandError> {
        if let Err(range) = check_factor(self.delay_factor) {
            return refuse("delay-factor", &self.delay_factor, range);
        }
        if let Err(range) = check_concurrency(self.concurrency) {
            return refuse("concurrency", &self.concurrency, range);
        }
        if self.concurrency_per_host == Some(0) {
            return refuse_zero("concurrency-per-host", ", the default");
        }
        if self.max_hosts_per_domain == 0 {
            return refuse_zero("max-hosts-per-domain", "; 1000 is the default");
        }
        if self.per_cluster == 0 {
            return refuse_zero("per-cluster", ", the default");
        }
        Ok(())
    }

    /// Checks the number of links off the scope, and the scope of single seeds.
    fn check_scope(&self) -> Result<(), CommandError> {
        if self.extra_hops > DiscoveredUrl::MAX_OFF_SCOPE {
            let range = format!("must be between 0 and {}", DiscoveredUrl::MAX_OFF_SCOPE);
            return refuse("extra-hops", &self.extra_hops, &range);
        }
        self.check_seed_scopes()
    }

    /// Checks selectors, the design of tables, and the client certificate.
    fn check_parts(&self) -> Result<(), CommandError> {
        if let Err(bad) = MainSelectors::parse(&self.main_selectors()) {
            let forms = "a CSS selector such as \"article.post\", HOST=CSS or URL=CSS";
            return Err(usage(format!("--main-selector {bad}")).with_remedy(forms));
        }
        if let Err(range) = self.tables.design(self.distance) {
            return refuse("tables", &self.tables, &range);
        }
        if self.client_key.is_some() && self.client_cert.is_none() {
            let remedy = "--client-cert FILE must contain the certificate of the key";
            return Err(usage("--client-key needs --client-cert").with_remedy(remedy));
        }
        if self.tries == 0 {
            return refuse_zero("tries", "; 3 is the default");
        }
        Ok(())
    }

    /// Checks the timeout, the user agent, and preferences that nobody would read.
    fn check_requests(&self) -> Result<(), CommandError> {
        if self.ignore_robots && !self.respect_preferences.is_empty() {
            let range = "preferences are in robots.txt, which --ignore-robots does not read: omit \
                         one of the two options";
            return refuse("respect-preferences", &self.respect_preferences, range);
        }
        if self.timeout.0.is_zero() {
            return refuse("timeout", &0, "it must be longer than 0, such as 60s");
        }
        let user_agent = self.user_agent();
        if matches!(self.agent_token().as_str(), "" | "*") {
            let shape = "it must begin with a product token of letters, digits, - and _, which \
                         robots.txt can name: Name/1.0 (+contact)";
            return refuse("user-agent", &user_agent, shape);
        }
        if !user_agent.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            let range = "it must be visible ASCII characters (RFC 9110, section 5.5)";
            return refuse("user-agent", &user_agent, range);
        }
        Ok(())
    }
}

impl Settings {
    /// Returns true if the crawl has a topic.
    pub fn has_topic(&self) -> bool {
        self.reading().has_topic()
    }

    /// Checks the options of a focused crawl, which need a topic.
    fn check_topic(&self) -> Result<(), CommandError> {
        let threshold = self.topic_threshold.unwrap_or_default();
        if !(0.0..=1.0).contains(&threshold) {
            let range = "must be between 0 and 1; `crawler topic` prints the relevance of files";
            return refuse("topic-threshold", &threshold, range);
        }
        let needy = [
            ("topic-threshold", self.topic_threshold.is_some()),
            ("min-harvest", self.min_harvest.is_some()),
            ("anticipation", self.anticipation.is_some()),
            ("off-topic", self.off_topic != OffTopic::Drop),
        ];
        let needy = needy.into_iter().find(|(_, is_given)| *is_given);
        if let Some((option, _)) = needy.filter(|_| !self.has_topic()) {
            let remedy = "give the topic with --topic WORDS, --topic-file FILE or --topic-of-seeds";
            return Err(usage(format!("--{option} needs a topic")).with_remedy(remedy));
        }
        Ok(())
    }
}

impl Settings {
    /// Checks the options of rendered pages.
    fn check_rendering(&self) -> Result<(), CommandError> {
        let needy = [
            ("screenshots", self.screenshots),
            ("render-post", self.render_post),
        ];
        let needy = needy.into_iter().find(|(_, is_given)| *is_given);
        if let Some((option, _)) = needy.filter(|_| !self.renders()) {
            let what = format!("--{option} needs --render: without it, no page is rendered");
            let remedy = format!("give --render shells or --render all, or --{option}=false");
            return Err(usage(what).with_remedy(remedy));
        }
        if self.spider && self.renders() {
            let what = "--spider and --render exclude each other: checked pages are not rendered";
            return Err(usage(what).with_remedy("omit one of the two options"));
        }
        Ok(())
    }
}

fn refuse(option: &str, value: &dyn Display, range: &str) -> Result<(), CommandError> {
    Err(usage(format!("--{option} {value} is not valid")).with_remedy(range))
}

fn refuse_zero(option: &str, range: &str) -> Result<(), CommandError> {
    refuse(option, &0, &format!("it must be at least 1{range}"))
}
