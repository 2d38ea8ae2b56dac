//! English-like prose, different for each number.
//!
//! Each [`Prose`] is about something: it draws from a small part of the vocabulary and from names
//! of its own, as a real page does. Two pages made of the same few words in another order would be
//! unrealistically alike.

use crate::random::Random;

/// A writer with a subject.
pub(crate) struct Prose {
    random: Random,
    nouns: Vec<&'static str>,
    adjectives: Vec<&'static str>,
    verbs: Vec<&'static str>,
    names: Vec<String>,
}

impl Prose {
    /// The writer of page `number` in the web of `seed`.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut random = Random::of(seed, number);
        let nouns = random.sample(&words(NOUNS), 36);
        let adjectives = random.sample(&words(ADJECTIVES), 22);
        let verbs = random.sample(&words(VERBS), 22);
        let names = (0..24).map(|_| name(&mut random)).collect();
        Self {
            random,
            nouns,
            adjectives,
            verbs,
            names,
        }
    }

    /// A few words for a heading.
    pub(crate) fn title(&mut self) -> String {
        let (adjective, noun, name) = (self.adjective(), self.noun(), self.name());
        match self.random.below(3) {
            0 => format!("The {adjective} {noun} of {name}"),
            1 => format!("{name} and the {noun}"),
            _ => format!("{name}: {adjective} {noun}"),
        }
    }

    /// Sentences until there are at least `least` words.
    pub(crate) fn paragraph(&mut self, least: usize) -> String {
        let mut text = String::new();
        let mut count = 0;
        while count < least {
            let sentence = self.sentence();
            count += sentence.split(' ').count();
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&sentence);
        }
        text
    }

    /// One sentence, of ten to thirty words.
    pub(crate) fn sentence(&mut self) -> String {
        let opening = self.opening();
        let (first, second) = (self.clause(), self.clause());
        let joint = self.random.pick(&[
            ", and ",
            ", but ",
            ", while ",
            "; ",
            ", because ",
            ", until ",
            ", so that ",
        ]);
        match self.random.below(4) {
            0 => format!("{}.", capital(&first)),
            1 => format!("{opening}, {first}."),
            2 => format!("{}{joint}{second}.", capital(&first)),
            _ => format!("{opening}, {first}{joint}{second}."),
        }
    }

    fn opening(&mut self) -> String {
        let (adjective, noun, name) = (self.adjective(), self.noun(), self.name());
        let number = 2 + self.random.below(90);
        match self.random.below(6) {
            0 => format!("In {name}"),
            1 => format!("After {number} years"),
            2 => format!("According to {name}"),
            3 => format!("Without a {adjective} {noun}"),
            4 => format!("Near the {noun} of {name}"),
            _ => format!("Under {adjective} {noun}s"),
        }
    }

    fn clause(&mut self) -> String {
        let (adjective, other) = (self.adjective(), self.adjective());
        let (noun, object) = (self.noun(), self.noun());
        let (verb, name) = (self.verb(), self.name());
        let (further, place) = (self.noun(), self.name());
        let number = 2 + self.random.below(400);
        match self.random.below(7) {
            0 => format!("the {adjective} {noun} {verb} a {object} from {place}"),
            1 => format!("{name} {verb} {number} {object}s beside the {adjective} {further}"),
            2 => format!("{name} and {place} {verb} the {noun} with {other} {object}s"),
            3 => format!("every {noun} {verb} its {adjective} {object}"),
            4 => format!("the {noun}s of {name} {verb} neither {object} nor {further}"),
            5 => format!("a {noun} {verb} {name} about the {adjective} {object}"),
            _ => format!("{adjective} {noun}s {verb} {other} {object}s towards {place}"),
        }
    }

    fn noun(&mut self) -> &'static str {
        self.random.pick(&self.nouns)
    }

    fn adjective(&mut self) -> &'static str {
        self.random.pick(&self.adjectives)
    }

    fn verb(&mut self) -> &'static str {
        self.random.pick(&self.verbs)
    }

    fn name(&mut self) -> String {
        self.names[self.random.below(self.names.len())].clone()
    }
}

/// A name that no dictionary has, such as `Brelmoth`.
fn name(random: &mut Random) -> String {
    let mut name = coined(random, 2);
    if random.below(3) == 0 {
        name.push_str(&coined(random, 1));
    }
    capital(&name)
}

/// A word of `syllables` syllables that can be pronounced.
pub(crate) fn coined(random: &mut Random, syllables: usize) -> String {
    const ONSETS: [&str; 24] = [
        "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p",
        "pr", "r", "s", "st", "t", "tr", "w",
    ];
    const VOWELS: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "ea", "oa", "ou", "y"];
    const CODAS: [&str; 14] = [
        "", "", "", "n", "l", "r", "m", "t", "nd", "lm", "rn", "sk", "th", "ss",
    ];
    let mut word = String::new();
    for _ in 0..syllables {
        word.push_str(random.pick(&ONSETS));
        word.push_str(random.pick(&VOWELS));
        word.push_str(random.pick(&CODAS));
    }
    word
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

fn words(list: &'static str) -> Vec<&'static str> {
    list.split_whitespace().collect()
}

/// The names of the months.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const NOUNS: &str = "
    acre almanac anchor apprentice arch archive atlas attic badge bakery balcony ballad bank barge \
    barn barometer
    basin beacon bell bench blacksmith blanket boat border bottle boulder bridge brook broom \
    bucket burrow cabin
    cable canal candle canoe captain caravan cargo carpenter carriage cart castle cathedral cattle \
    cave cellar chain
    chalk chapel chart chest chimney cider circle clerk cliff cloak clock cloth coast coin column \
    comet compass copper
    coral corridor cottage council courtyard cradle crane context crown crystal current curtain \
    custom dam dawn deck
    delta desert diary ditch dock donkey door drain drawing drift drum dune dye eagle echo \
    embankment engine
    engraving estuary factory fair farm fence ferry fiddle field fire fisher flag flock flood \
    flour flute fog forest
    forge fort fossil fountain fox frame frost furnace furrow galley garden garrison gate glacier \
    glass globe goat
    grain granary grange gravel grove guild gull hammer harbour harvest hatch hawk heath hedge \
    herald herd hill hinge
    hollow honey hook horizon horn horse inn inscription island ivory jar journal journey judge \
    juniper kettle key
    kiln kitchen kite knot ladder lagoon lake lamp lane lantern lark lathe ledger lens letter \
    library lighthouse lime
    linen lock loft loom lute mantle map marble market marsh mast meadow medal merchant meteor \
    mill mine minstrel
    mirror mole monument moor mortar mosaic moth mountain museum myth needle nest net notebook \
    novel nursery oak
    oar orchard organ otter oven owl ox paddock signature_builder palace paper parade parish \
    pasture path pavement peak pebble
    pedlar pendulum pier pigeon pilgrim pillar pilot pine pioneer pipe plain plank plaster plateau \
    plough pond
    poplar porch signature potter prairie printer prism procession pulley quarry quay quill quilt \
    rafter railway rampart
    ravine recipe reed reef refuge register relic reservoir ribbon ridge river road robin rope \
    route rudder
    saddle sail salt sandstone saw scaffold scholar school scribe scroll sculptor seed shaft shelf \
    shepherd shield
    ship shore shrine signal silk sluice smith snail soil sparrow spindle spire spring square \
    stable staircase station
    statue steam steeple stove stream street surveyor swallow swamp tailor tanner tapestry tavern \
    teacher temple
    terrace thatch theatre thicket thread threshold tide tile timber toll torch tower track trader \
    trail treaty trench
    tunnel turbine valley vault vessel viaduct village vineyard violin voyage waggon wall \
    warehouse watch weaver well
    wharf wheel willow windmill winter wool workshop yard yarn yew";

const ADJECTIVES: &str = "
    abandoned ample ancient austere bare bitter bleak blunt borrowed brass bright brittle broad \
    calm careful coarse
    cold common crooked crowded damp dark deep dense dim distant double dry dull dusty early \
    eastern empty enormous
    even faded faint famous fertile fine flat foreign forgotten fragile fresh frozen generous \
    gentle gilded grand
    green grey half-built hardy harsh heavy hidden high hollow honest humble idle inland iron \
    jagged kind lasting
    late lean level light little local lofty lonely long loose loud low lucky massive mellow mild \
    misty modest muddy
    narrow neat noble northern oblique odd old open ordinary pale patient plain polished poor \
    powerful private proud
    public quaint quiet rapid rare red remote restless rich rigid ripe rough round royal ruined \
    rural rustic sacred
    sandy scarce secret shallow sharp silent silver simple sincere slender slow small smooth \
    solemn solid southern
    spare splendid square steady steep stern still stony straight strange strict strong sturdy \
    subtle sudden sunken
    swift tall tame thick thin tidy timid tired tough tranquil upper useful vacant vague vast \
    violet vivid warm
    weathered western wet white wide wild windy wise wooden worn yellow young";

const VERBS: &str = "
    abandoned admired answered assembled avoided balanced borrowed bought broke brought built \
    buried carried carved
    caught changed chose claimed cleared climbed closed collected compared copied counted covered \
    crossed cut
    decorated defended delivered described designed discovered divided drained drew dropped dug \
    emptied engraved
    enlarged entered examined exchanged exported feared fed filled finished followed forgot \
    fortified found founded
    framed gathered gave greeted guarded guided held hid hired imitated imported improved \
    inherited inspected joined
    kept kindled labelled lent lifted lit loaded lost lowered maintained marked measured melted \
    mended mentioned
    met moved named needed noticed obtained offered opened ordered owned painted passed paved \
    planted polished
    praised preserved printed protected prepared promised purchased raised reached rebuilt \
    recorded refused
    remembered removed repaired replaced rescued restored returned revealed rowed ruled salvaged \
    saved sealed sent
    sheltered showed sketched sold sorted sought stored studied surrounded surveyed taught tested \
    tied took traced
    traded translated trusted turned used visited warmed watched weighed welcomed widened won wove \
    wrote";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_number_determines_its_prose() {
        assert_eq!(
            Prose::new(1, 7).paragraph(80),
            Prose::new(1, 7).paragraph(80)
        );
        assert_ne!(
            Prose::new(1, 7).paragraph(80),
            Prose::new(1, 8).paragraph(80)
        );
        assert_ne!(
            Prose::new(1, 7).paragraph(80),
            Prose::new(2, 7).paragraph(80)
        );
    }

    #[test]
    fn a_paragraph_has_the_requested_length_and_at_most_a_sentence_more() {
        for least in [1, 50, 400] {
            let count = Prose::new(3, 4).paragraph(least).split_whitespace().count();
            assert!((least..least + 40).contains(&count), "{count}");
        }
    }

    #[test]
    fn the_vocabulary_repeats_no_word() {
        for list in [NOUNS, ADJECTIVES, VERBS] {
            let mut list = words(list);
            let length = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), length);
        }
    }
}
